import UTIF from 'utif2';
import { ExtractFailed, type Extraction } from './job.js';
import { addRecognized } from './picture.js';

export const extractTiff = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  checkDirectories(bytes);
  const pages = UTIF.decode(bytes).filter(({ t256 }) => t256 !== undefined);
  if (pages.length === 0) throw new ExtractFailed('damaged', 'The file contains no image');
  extraction.total(pages.length);
  for (const [index, page] of pages.entries()) {
    if (extraction.skip()) continue;
    const { width, height } = getPageSize(page);
    if (width * height > extraction.job.limits.pixels) {
      extraction.note(`Page ${index + 1} is too large: ${width} × ${height} pixels.`);
      if (!extraction.add('')) break;
      continue;
    }
    UTIF.decodeImage(bytes, page);
    const png = await encodePng(UTIF.toRGBA8(page), page);
    if (!addRecognized(extraction, await extraction.recognize(png))) break;
  }
};

/** TIFF 6.0, section 2. */
const ENTRY_BYTES = 12;
/** Tags that refer to further directories, which utif2 reads as well. */
const DIRECTORY_TAGS = new Set([330, 34665, 34853, 50740, 61440]);
/** LONG and IFD (Adobe TIFF Technical Note 1), four bytes each. */
const PLACE_TYPES = new Set([4, 13]);
const MAX_DIRECTORIES = 20_000;

/**
 * Throws ExtractFailed for too many directories, including cycles, or an entry with more values
 * than the file has bytes. Otherwise utif2 would not end or would fill the memory.
 */
const checkDirectories = (bytes: Buffer): void => {
  const isLittle = bytes.toString('latin1', 0, 2) === 'II';
  const count = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const offset = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const isIn = (at: number, size: number) => at >= 8 && at + size <= bytes.length;
  const waiting = isIn(offset(4), 2) ? [{ at: offset(4), isPage: true }] : [];
  let directories = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (++directories > MAX_DIRECTORIES) {
      throw new ExtractFailed('damaged', 'The page directories of the file form a cycle');
    }
    const end = next.at + 2 + count(next.at) * ENTRY_BYTES;
    for (let entry = next.at + 2; entry < end && isIn(entry, ENTRY_BYTES); entry += ENTRY_BYTES) {
      const values = offset(entry + 4);
      if (values > bytes.length) {
        throw new ExtractFailed(
          'damaged',
          'A page directory has more values than the file has bytes',
        );
      }
      if (!DIRECTORY_TAGS.has(count(entry))) continue;
      if (!PLACE_TYPES.has(count(entry + 2))) {
        throw new ExtractFailed(
          'damaged',
          'A page directory refers to another in an unknown format',
        );
      }
      const list = values < 2 ? entry + 8 : offset(entry + 8);
      for (let at = list; at < list + values * 4 && isIn(at, 4); at += 4) {
        if (waiting.length > MAX_DIRECTORIES) break;
        if (isIn(offset(at), 2)) waiting.push({ at: offset(at), isPage: false });
      }
    }
    if (next.isPage && isIn(end, 4) && isIn(offset(end), 2)) {
      waiting.push({ at: offset(end), isPage: true });
    }
  }
};

/** TIFF 6.0, tags 256 and 257. */
const getPageSize = (page: UTIF.IFD): { width: number; height: number } => ({
  width: Number([page.t256].flat()[0] ?? 0),
  height: Number([page.t257].flat()[0] ?? 0),
});

const encodePng = async (rgba: Uint8Array, { width, height }: UTIF.IFD): Promise<Buffer> => {
  const { createCanvas, ImageData } = await import('@napi-rs/canvas');
  const canvas = createCanvas(width, height);
  const pixels = new ImageData(new Uint8ClampedArray(rgba), width, height);
  canvas.getContext('2d').putImageData(pixels, 0, 0);
  return canvas.encode('png');
};
