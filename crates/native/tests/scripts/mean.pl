#!/usr/bin/perl
# The mean of the numbers of each line: an empty line has none.
use strict;
use warnings;
use Carp qw(confess);

sub mean {
    my ($line) = @_;
    my $sum = 0;
    my @numbers = split ' ', $line;
    confess "bad number in $line" if grep { /[a-z]/ } @numbers;
    $sum += $_ for @numbers;
    return $sum / @numbers;
}

open my $in, '<', $ARGV[0] or exit 3;
while (my $line = <$in>) {
    if ($line =~ /^quit/) { warn "quitting over $line"; exit 1; }
    print mean($line), "\n";
}
