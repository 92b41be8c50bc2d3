import { closeSync, fstatSync, readSync } from 'node:fs';
import { NamedError } from '../../kernel/failure.js';
import { NotRegularFile, openRegularFileSync } from '../../kernel/regularfile.js';

export class GgufFault extends NamedError {}

/** Little-endian. */
export interface HeaderBytes {
  size: number;
  /** Bytes read or skipped. */
  position(): number;
  uint8(): number;
  int8(): number;
  uint16(): number;
  int16(): number;
  uint32(): number;
  int32(): number;
  float32(): number;
  float64(): number;
  int64(): number;
  /** 64-bit count. A value larger than the file is a fault. */
  count(what: string): number;
  text(bytes: number, encoding: 'utf8' | 'latin1'): string;
  skip(bytes: number): void;
  close(): void;
}

const WINDOW = 1024 * 1024;
/** Headers with large vocabularies have 25 MB. */
const MAX_HEADER_LENGTH = 64 * 1024 * 1024;

/** Reads in pieces of 1 MiB. */
export const openBytes = (path: string): HeaderBytes => {
  const file = openFile(path);
  const { size } = fstatSync(file);
  // One buffer, since new ones would create garbage faster than it is collected.
  let room: Buffer = Buffer.alloc(0);
  let window = room;
  let start = 0;
  let at = 0;
  /** Returns the position of the bytes in the window. */
  const take = (bytes: number): number => {
    if (at + bytes > window.length) {
      start += at;
      at = 0;
      checkEnd(start + bytes, size);
      const length = Math.min(Math.max(WINDOW, bytes), size - start);
      if (room.length < length) room = Buffer.allocUnsafe(length);
      window = room.subarray(0, length);
      fill(file, start, window);
    }
    at += bytes;
    return at - bytes;
  };
  return {
    size,
    position: () => start + at,
    ...createNumberReaders(() => window, take),
    count: (what) => {
      const from = take(8);
      // In two halves: headers may have millions of counts, and each BigInt is an object.
      const value = window.readUInt32LE(from) + window.readUInt32LE(from + 4) * 2 ** 32;
      if (value > size)
        throw new GgufFault(
          `The file declares ${window.readBigUInt64LE(from)} ${what}, more than the file can contain`,
        );
      return value;
    },
    text: (bytes, encoding) => {
      const from = take(bytes);
      return window.toString(encoding, from, from + bytes);
    },
    skip: (bytes) => {
      checkEnd(start + at + bytes, size);
      at += bytes;
    },
    close: () => closeSync(file),
  };
};

const openFile = (path: string): number => {
  try {
    return openRegularFileSync(path);
  } catch (error) {
    throw error instanceof NotRegularFile ? new GgufFault(`The file ${error.message}`) : error;
  }
};

const createNumberReaders = (window: () => Buffer, take: (bytes: number) => number) => {
  const number = (bytes: number, read: (from: Buffer, at: number) => number) => () => {
    const at = take(bytes);
    return read(window(), at);
  };
  return {
    uint8: number(1, (from, at) => from.readUInt8(at)),
    int8: number(1, (from, at) => from.readInt8(at)),
    uint16: number(2, (from, at) => from.readUInt16LE(at)),
    int16: number(2, (from, at) => from.readInt16LE(at)),
    uint32: number(4, (from, at) => from.readUInt32LE(at)),
    int32: number(4, (from, at) => from.readInt32LE(at)),
    float32: number(4, (from, at) => from.readFloatLE(at)),
    float64: number(8, (from, at) => from.readDoubleLE(at)),
    int64: number(8, (from, at) => Number(from.readBigInt64LE(at))),
  };
};

const checkEnd = (end: number, size: number): void => {
  if (end > size) throw new GgufFault('The file is truncated: the GGUF header is incomplete');
  if (end > MAX_HEADER_LENGTH) {
    throw new GgufFault(`The GGUF header is longer than ${MAX_HEADER_LENGTH / 1024 ** 2} MiB`);
  }
};

const fill = (file: number, start: number, into: Buffer): void => {
  if (readSync(file, into, 0, into.length, start) < into.length) {
    throw new GgufFault('The file was truncated while it was read');
  }
};
