// sfc32: a small fast generator, as good as the one that browsers have behind Math.random, but with a known seed.

export function seeded(seed) {
  let [a, b, c, d] = seed;
  const step = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) step();
  // 53 bits, as many as a double has between 0 and 1.
  return () => ((step() >>> 5) * 67108864 + (step() >>> 6)) / 9007199254740992;
}
