//! Character devices, and the fixed tree below `/dev`.
//!
//! Random devices are deterministic: a stream from a fixed seed, one for the whole machine. There
//! is no terminal: opening `/dev/tty` is an `ENXIO`, as it is for any program without one.

use super::stat::device_number;

/// A device that programs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// Swallows everything, holds nothing.
    Null,
    /// Swallows everything, holds zeros without end.
    Zero,
    /// Always full; reads as zeros.
    Full,
    /// Random bytes, by its old name.
    Random,
    /// Random bytes.
    Urandom,
}

impl Device {
    /// All of them with their names, in the order of their numbers.
    pub const ALL: [(&'static str, Device); 5] = [
        ("null", Device::Null),
        ("zero", Device::Zero),
        ("full", Device::Full),
        ("random", Device::Random),
        ("urandom", Device::Urandom),
    ];

    /// The number that `stat` tells.
    pub const fn number(self) -> u64 {
        let minor = match self {
            Device::Null => 3,
            Device::Zero => 5,
            Device::Full => 7,
            Device::Random => 8,
            Device::Urandom => 9,
        };
        device_number(1, minor)
    }

    /// The device with this number.
    pub fn from_number(number: u64) -> Option<Device> {
        Device::ALL.iter().map(|entry| entry.1).find(|device| device.number() == number)
    }
}

/// The number of the terminal that is not there.
pub const TTY: u64 = device_number(5, 0);
/// The number of the device that would make new terminals.
pub const PTMX: u64 = device_number(5, 2);

/// Links below `/dev`.
pub const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("core", "/proc/kcore"),
];

/// A deterministic stream of random-looking bytes (SplitMix64).
#[derive(Clone, Debug)]
pub struct Noise {
    state: u64,
    /// Bytes of the last word that have not been given out, lowest first.
    rest: (u64, u8),
}

impl Noise {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Noise {
        Noise { state: seed, rest: (0, 0) }
    }

    /// The next bytes.
    pub fn fill(&mut self, into: &mut [u8]) {
        for byte in into {
            if self.rest.1 == 0 {
                self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut word = self.state;
                word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                self.rest = (word ^ (word >> 31), 8);
            }
            *byte = self.rest.0 as u8;
            self.rest = (self.rest.0 >> 8, self.rest.1 - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_does_not_depend_on_how_it_is_asked_for() {
        let (mut a, mut b) = (Noise::new(7), Noise::new(7));
        let mut whole = [0; 100];
        a.fill(&mut whole);
        let mut parts = [0; 100];
        for part in parts.chunks_mut(7) {
            b.fill(part);
        }
        assert_eq!(whole, parts);
        assert!(whole.iter().any(|&byte| byte != whole[0]));
    }

    #[test]
    fn numbers_lead_back() {
        for (_, device) in Device::ALL {
            assert_eq!(Device::from_number(device.number()), Some(device));
        }
        assert_eq!(Device::from_number(TTY), None);
    }
}
