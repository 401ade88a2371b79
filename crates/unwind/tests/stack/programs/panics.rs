//! A panic in a generic method, which becomes an abort.
struct Holder<T>(T);
impl<T: Copy + Into<u64>> Holder<T> {
    #[inline(never)]
    fn check(&self, limit: u64) -> u64 {
        let value: u64 = self.0.into();
        assert!(value < limit, "too large");
        value + 1
    }
}
#[inline(never)]
fn outer(count: u32) -> u64 {
    Holder(count).check(0) + 1
}
fn main() {
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let count = std::env::args().count() as u32;
    println!("{}", outer(count) + 1);
}
