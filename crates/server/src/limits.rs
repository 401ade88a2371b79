//! How much one address may ask of the server.
//!
//! A bucket for each address holds a number of requests, and fills up over time. Buckets are in
//! memory: every replica has its own. Always: there are at most so many buckets, however many
//! addresses there are, and full ones go first. Addresses are never logged.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use rustc_hash::FxHashMap;

/// The most addresses that are told apart at a time.
const MOST: usize = 65_536;

/// How fast a bucket fills, and how much it holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// Requests a minute; 0 is no limit.
    pub per_minute: u32,
    /// Requests at once.
    pub burst: u32,
}

struct Bucket {
    tokens: f64,
    at: Instant,
}

/// Buckets by address.
pub struct Limiter {
    rate: Rate,
    buckets: Mutex<FxHashMap<IpAddr, Bucket>>,
}

impl Limiter {
    /// No bucket yet.
    #[must_use]
    pub fn new(rate: Rate) -> Limiter {
        Limiter { rate, buckets: Mutex::new(FxHashMap::default()) }
    }

    /// Takes a request out of an address's bucket; if it is empty, says how long to wait.
    pub fn take(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        if self.rate.per_minute == 0 {
            return Ok(());
        }
        let (burst, speed) =
            (f64::from(self.rate.burst.max(1)), f64::from(self.rate.per_minute) / 60.0);
        let filled = |bucket: &Bucket| {
            let seconds = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.tokens + seconds * speed).min(burst)
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST {
            buckets.retain(|_, bucket| filled(bucket) < burst);
            if buckets.len() >= MOST {
                // So many are busy that one more stranger has to wait.
                return Err(Duration::from_secs(60));
            }
        }
        let bucket = buckets.entry(network(address)).or_insert(Bucket { tokens: burst, at: now });
        bucket.tokens = filled(bucket);
        bucket.at = now;
        if bucket.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.tokens) / speed));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}

/// One household has a whole network of addresses in version 6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mut parts = address.segments();
            parts[4..].fill(0);
            IpAddr::V6(parts.into())
        }
        address => address,
    }
}

/// Whose request it is: the peer's, or what a proxy that we know says about it.
#[must_use]
pub fn address(peer: SocketAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let mut address = peer.ip().to_canonical();
    let forwarded = headers.get_all("x-forwarded-for").iter();
    let forwarded: Vec<&str> = forwarded
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .collect();
    // The last entry is the nearest; each is believed as long as a proxy of ours wrote it.
    for entry in forwarded.iter().rev() {
        if !proxies.contains(&address) {
            break;
        }
        let Ok(next) = entry.trim().parse::<IpAddr>() else { break };
        address = next.to_canonical();
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let limiter = Limiter::new(Rate { per_minute: 60, burst: 3 });
        let (a, b) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        let begin = Instant::now();
        for _ in 0..3 {
            assert!(limiter.take(a, begin).is_ok());
        }
        let wait = limiter.take(a, begin).unwrap_err();
        assert!(wait <= Duration::from_secs(1));
        assert!(limiter.take(b, begin).is_ok());
        assert!(limiter.take(a, begin + Duration::from_secs(1)).is_ok());
        assert!(limiter.take(a, begin + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn strangers_do_not_fill_the_memory() {
        let limiter = Limiter::new(Rate { per_minute: 1, burst: 1 });
        let begin = Instant::now();
        for number in 0..(MOST as u32 + 10) {
            let _ = limiter.take(IpAddr::V4(number.into()), begin);
        }
        assert!(limiter.buckets.lock().unwrap().len() <= MOST);
        // When they have gone, there is room again.
        let later = begin + Duration::from_secs(120);
        assert!(limiter.take("203.0.113.9".parse().unwrap(), later).is_ok());
        assert_eq!(limiter.buckets.lock().unwrap().len(), 1);
    }

    #[test]
    fn only_our_proxies_are_believed() {
        let peer: SocketAddr = "10.0.0.9:1000".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "1.1.1.1, 2.2.2.2".parse().unwrap());
        let proxy: IpAddr = "10.0.0.9".parse().unwrap();
        assert_eq!(address(peer, &headers, &[]), proxy);
        assert_eq!(address(peer, &headers, &[proxy]), "2.2.2.2".parse::<IpAddr>().unwrap());
        let both = [proxy, "2.2.2.2".parse().unwrap()];
        assert_eq!(address(peer, &headers, &both), "1.1.1.1".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let limiter = Limiter::new(Rate { per_minute: 1, burst: 1 });
        let now = Instant::now();
        assert!(limiter.take("2001:db8::1".parse().unwrap(), now).is_ok());
        assert!(limiter.take("2001:db8::2".parse().unwrap(), now).is_err());
        assert!(limiter.take("::ffff:10.0.0.1".parse().unwrap(), now).is_ok());
        assert!(limiter.take("10.0.0.1".parse().unwrap(), now).is_err());
    }
}
