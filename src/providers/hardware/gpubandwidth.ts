/**
 * Memory bandwidth of well-known GPUs in GB/s (10^9 bytes), by lower-case name without the vendor's
 * words. The figures are those of the vendors (bus width × data rate / 8), written from memory in
 * November 2026 and not verified. A wrong figure only misjudges a speed, and a measured speed goes
 * before it. Of a name with several variants the slowest counts. A name with additional words, such as
 * `laptop gpu`, is another GPU and unknown.
 */
const BANDWIDTHS: Record<string, number> = {
  // NVIDIA, with GDDR7, GDDR6X, GDDR6 and HBM.
  'rtx 5090': 1792,
  'rtx 5080': 960,
  'rtx 5070 ti': 896,
  'rtx 5070': 672,
  'rtx 5060 ti': 448,
  'rtx 5060': 448,
  'rtx 4090': 1008,
  'rtx 4080 super': 736,
  'rtx 4080': 717,
  'rtx 4070 ti super': 672,
  'rtx 4070 ti': 504,
  'rtx 4070 super': 504,
  'rtx 4070': 480,
  'rtx 4060 ti': 288,
  'rtx 4060': 272,
  'rtx 3090 ti': 1008,
  'rtx 3090': 936,
  'rtx 3080 ti': 912,
  'rtx 3080': 760,
  'rtx 3070 ti': 608,
  'rtx 3070': 448,
  'rtx 3060 ti': 448,
  'rtx 3060': 240,
  'rtx 2080 ti': 616,
  'rtx a6000': 768,
  'rtx 6000 ada generation': 960,
  l40s: 864,
  l4: 300,
  t4: 320,
  a10: 600,
  a10g: 600,
  a40: 696,
  'a100-pcie-40gb': 1555,
  'a100 80gb pcie': 1935,
  'a100-sxm4-40gb': 1555,
  'a100-sxm4-80gb': 2039,
  'h100 pcie': 2000,
  'h100 80gb hbm3': 3350,
  // AMD.
  'rx 9070 xt': 640,
  'rx 9070': 640,
  'rx 9060 xt': 320,
  'rx 7900 xtx': 960,
  'rx 7900 xt': 800,
  'rx 7900 gre': 576,
  'rx 7800 xt': 624,
  'rx 7700 xt': 432,
  'rx 7600 xt': 288,
  'rx 7600': 288,
  'rx 6900 xt': 512,
  'rx 6800 xt': 512,
  'rx 6800': 512,
  'rx 6700 xt': 384,
  'pro w7900': 864,
  // Intel.
  'arc b580': 456,
  'arc b570': 380,
  'arc a770': 512,
  'arc a750': 512,
  // Apple, whose GPUs share the memory of the processor.
  'apple m1': 68,
  'apple m1 pro': 200,
  'apple m1 max': 400,
  'apple m1 ultra': 800,
  'apple m2': 100,
  'apple m2 pro': 200,
  'apple m2 max': 400,
  'apple m2 ultra': 800,
  'apple m3': 100,
  'apple m3 pro': 150,
  'apple m3 max': 300,
  'apple m3 ultra': 819,
  'apple m4': 120,
  'apple m4 pro': 273,
  'apple m4 max': 410,
};

/** Words that vendors and systems add to a name. */
const ADDED = /\b(nvidia|geforce|tesla|amd|radeon|intel|corporation|graphics)\b|\((r|tm)\)|[®™]/g;

/** In bytes per second; null if the name is unknown. */
export const bandwidthOfGpu = (name: string): number | null => {
  // A PCI name contains that of the chip, and that of the card in brackets.
  const [, card = name] = /\[([^\]]+)\]/.exec(name) ?? [];
  const key = card.toLowerCase().replace(ADDED, ' ').trim().replace(/\s+/g, ' ');
  const known = Object.hasOwn(BANDWIDTHS, key) ? BANDWIDTHS[key] : undefined;
  return known === undefined ? null : known * 1e9;
};
