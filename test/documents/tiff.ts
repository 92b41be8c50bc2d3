/** A TIFF file (6.0) of white pages; `next` is the number of the page that follows, from 0. */
export const tiffOf = (pages: { width: number; height: number; next: number | null }[]): Buffer => {
  const bytes = Buffer.alloc(8 + pages.length * PAGE_BYTES, 0);
  bytes.write('II*\0');
  bytes.writeUInt32LE(8, 4);
  for (const [number, { width, height, next }] of pages.entries()) {
    const start = 8 + number * PAGE_BYTES;
    const pixels = start + PAGE_BYTES - 8;
    const end = writeTags(bytes, start, [
      ...[tag(256, width), tag(257, height), tag(258, 1), tag(259, 1), tag(262, 0)],
      ...[tag(273, pixels), tag(277, 1), tag(278, height), tag(279, 8)],
    ]);
    bytes.writeUInt32LE(next === null ? 0 : 8 + next * PAGE_BYTES, end);
  }
  return bytes;
};

/** A white TIFF page of 256 × 256 pixels that is stored as one tile, as map programs do. */
export const tiledTiff = (): Buffer => {
  const pixels = 256 * 256;
  const bytes = Buffer.alloc(8 + PAGE_BYTES + pixels, 255);
  bytes.write('II*\0');
  bytes.writeUInt32LE(8, 4);
  const end = writeTags(bytes, 8, [
    ...[tag(256, 256), tag(257, 256), tag(258, 8), tag(259, 1), tag(262, 1)],
    ...[tag(322, 256), tag(323, 256), tag(324, 8 + PAGE_BYTES), tag(325, pixels)],
  ]);
  bytes.writeUInt32LE(0, end);
  return bytes;
};

/** A TIFF file of pages of grey pixels, one byte each, as a scanner writes it. */
export const grayTiff = (
  pages: { width: number; height: number; pixels: Uint8Array }[],
): Buffer => {
  const directories = Buffer.alloc(8 + pages.length * PAGE_BYTES);
  directories.write('II*\0');
  directories.writeUInt32LE(8, 4);
  let at = directories.length;
  for (const [number, { width, height, pixels }] of pages.entries()) {
    const end = writeTags(directories, 8 + number * PAGE_BYTES, [
      ...[tag(256, width), tag(257, height), tag(258, 8), tag(259, 1), tag(262, 1)],
      ...[tag(273, at), tag(277, 1), tag(278, height), tag(279, pixels.length)],
    ]);
    const isLast = number === pages.length - 1;
    directories.writeUInt32LE(isLast ? 0 : 8 + (number + 1) * PAGE_BYTES, end);
    at += pixels.length;
  }
  return Buffer.concat([directories, ...pages.map(({ pixels }) => pixels)]);
};

const PAGE_BYTES = 128;
const tag = (code: number, value: number) => ({ code, value });

const writeTags = (bytes: Buffer, at: number, tags: ReturnType<typeof tag>[]): number => {
  bytes.writeUInt16LE(tags.length, at);
  for (const [index, { code, value }] of tags.entries()) {
    const entry = at + 2 + index * 12;
    bytes.writeUInt16LE(code, entry);
    bytes.writeUInt16LE(4, entry + 2);
    bytes.writeUInt32LE(1, entry + 4);
    bytes.writeUInt32LE(value, entry + 8);
  }
  return at + 2 + tags.length * 12;
};
