import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Imports a ledger: `date,account,amount`. Amounts with a sign behind them are not understood. */
public class Ledger {
    static class ImportException extends RuntimeException {
        ImportException(String message, Throwable cause) { super(message, cause); }
    }

    static long cents(String text) {
        String[] parts = text.split("\\.");
        return Long.parseLong(parts[0]) * 100 + Long.parseLong(parts[1]);
    }

    static long row(String line) {
        String[] cells = line.split(",");
        try {
            return cents(cells[2].trim());
        } catch (NumberFormatException e) {
            throw new ImportException("cannot read " + line, e);
        }
    }

    static int depth(String text, int at) {
        return text.charAt(at) == '(' ? depth(text, at) + 1 : 0;
    }

    public static void main(String[] words) throws IOException {
        List<String> lines = Files.readAllLines(Path.of(words[0]));
        if (lines.get(0).startsWith("(")) {
            System.out.println(depth(lines.get(0), 0));
        }
        if (lines.get(0).equals("quit")) {
            new Exception("not so bad").printStackTrace();
            System.exit(1);
        }
        System.out.println(lines.stream().map(Ledger::row).collect(Collectors.toList()));
    }
}
