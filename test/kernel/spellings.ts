/** Ways to write a host that is this machine, or something near it that must not be reached. */
export const spellings = (): string[] => [
  ...new Set([...numbered(), ...disguised, ...v6.map((text) => `[${text}]`), ...names]),
];

/** The same number in each base that the parser of URLs knows. */
const bases = [
  (part: number) => String(part),
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0${part.toString(8)}`,
];

/** Four, three, two and one part, each part in each base. */
const numbered = (): string[] => {
  const loopback = [[127, 0, 0, 1], [127, 0, 1], [127, 1], [2_130_706_433]];
  const others = [[127, 255, 255, 254], [0], [0, 0, 0, 0], [10, 1], [172, 16, 1], [192, 168, 257]];
  return [...loopback, ...others].flatMap(inEveryBase);
};

const inEveryBase = (parts: number[]): string[] => {
  let written = [''];
  for (const part of parts)
    written = written.flatMap((head) =>
      bases.map((base) => (head === '' ? base(part) : `${head}.${base(part)}`)),
    );
  return written;
};

const disguised = [
  '127.0.0.1.',
  '0X7F.1',
  '0x0000007f.0.0.1',
  '0000177.0.0.01',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '127.0.0.%31',
  '１２７.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127｡0｡0｡1',
  '127．0．0．1',
  '127.0.\u00ad0.1',
  '127.0.0\t.1',
  '127.\n0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '169.254.1.1',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
];

const v6 = [
  '::',
  '0::0',
  '::1',
  '0::1',
  '::0001',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '::0.0.0.1',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::FFFF:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:127.0.0.1',
  '0:0:0:0:0:ffff:7f00:0001',
  '::ffff:0:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::7f00:1',
  '64:ff9b:1:7f00:0:100::',
  '2002:7f00:1::',
  '2002:7f00:0001::1',
  '2002:a00:1::1',
  '2001:0:7f00:1::',
  '2001:0:4136:e378:8000:63bf:80ff:fffe',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '3fff::1',
  '100::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
  'ff0e::1',
];

const names = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  'loc%61lhost',
  'ⓛocalhost',
  'ｌｏｃａｌｈｏｓｔ',
  'any.localhost',
  'localhost.localdomain',
  'printer.local',
  'db.internal',
  'db.internal.',
  'nas.home.arpa',
  'example.com.',
];
