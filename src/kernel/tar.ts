import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { NamedError } from './failure.js';

/**
 * POSIX ustar with pax records (IEEE 1003.1, pax). Every header has exactly one form, which the
 * reader compares. So links, devices, owners and other writers' variations are refused.
 */
export interface TarEntry {
  name: string;
  size: number;
  isExecutable: boolean;
  /** Seconds since 1970. */
  mtime: number;
}

export interface FoundEntry extends TarEntry {
  offset: number;
}

export class TarError extends NamedError {}

const BLOCK = 512;
const PLAIN = /^[\x20-\x7e]{1,100}$/;
const MAX_IN_HEADER = 0o77777777777;
const MAX_NAME_LENGTH = 4096;
const MAX_PAX_LENGTH = 3 * BLOCK + MAX_NAME_LENGTH;
const MAX_ENTRIES = 1_000_000;

export const buildTarHeader = (entry: TarEntry): Buffer => {
  const records = buildPaxRecords(entry);
  const isSmall = entry.size <= MAX_IN_HEADER;
  const own = block({
    ...entry,
    name: PLAIN.test(entry.name) ? entry.name : hashName(entry.name),
    size: isSmall ? entry.size : 0,
    type: '0',
  });
  if (records.length === 0) return own;
  const pax = { ...entry, name: 'pax', size: records.length, isExecutable: false, type: 'x' };
  return Buffer.concat([block(pax), records, buildTarPadding(records.length), own]);
};

export const buildTarPadding = (size: number): Buffer =>
  Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

export const endOfTar = (): Buffer => Buffer.alloc(2 * BLOCK);

export function* readTar(file: number, fileSize: number): Generator<FoundEntry, void, undefined> {
  const names = new Set<string>();
  let at = 0;
  for (;;) {
    const first = bytesAt(file, at, BLOCK, fileSize);
    if (isZero(first)) break;
    const { header, length } = wholeHeader(file, { at, first, fileSize });
    const entry = { ...header, offset: at + length };
    refuseName(entry.name, names);
    at = entry.offset + entry.size;
    if (at > fileSize) throw new TarError(`${entry.name} is larger than the archive`);
    const rest = buildTarPadding(entry.size).length;
    if (!isZero(bytesAt(file, at, rest, fileSize)))
      throw new TarError('the padding of an entry is not zero');
    at += rest;
    yield entry;
  }
  const end = endOfTar().length;
  if (fileSize !== at + end || !isZero(bytesAt(file, at, end, fileSize))) {
    throw new TarError('the archive is truncated or has data after the last entry');
  }
}

interface Header extends TarEntry {
  type: string;
}

const block = ({ name, size, isExecutable, mtime, type }: Header): Buffer => {
  const bytes = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    bytes.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  bytes.write(name, 0, 'latin1');
  octal(isExecutable ? 0o700 : 0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(mtime, 136, 11);
  bytes.write('        ', 148, 'latin1');
  bytes.write(type, 156, 'latin1');
  bytes.write('ustar\u000000', 257, 'latin1');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1');
  return bytes;
};

/** Replaces a name in the header. The name itself is in a pax record, which no checksum covers. */
const hashName = (name: string): string => createHash('sha256').update(name).digest('hex');

const buildPaxRecords = ({ name, size }: TarEntry): Buffer => {
  return Buffer.concat([
    ...(PLAIN.test(name) ? [] : [encodePaxRecord('path', name)]),
    ...(size <= MAX_IN_HEADER ? [] : [encodePaxRecord('size', String(size))]),
  ]);
};

/** `<length> <key>=<value>\n`, where the length includes its own digits. */
const encodePaxRecord = (key: string, value: string): Buffer => {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (length !== rest.length + String(length).length) {
    length = rest.length + String(length).length;
  }
  return Buffer.concat([Buffer.from(String(length)), rest]);
};

interface ArchivePosition {
  at: number;
  first: Buffer;
  fileSize: number;
}

const wholeHeader = (file: number, { at, first, fileSize }: ArchivePosition) => {
  const isPax = first.toString('latin1', 156, 157) === 'x';
  const paxSize = isPax ? numberIn(first, 124, 12) : 0;
  if (isPax && !(paxSize > 0 && paxSize <= MAX_PAX_LENGTH))
    throw new TarError('the header of an entry has an invalid length');
  const length = isPax ? 2 * BLOCK + paxSize + buildTarPadding(paxSize).length : BLOCK;
  const raw = bytesAt(file, at, length, fileSize);
  const own = raw.subarray(-BLOCK);
  const records = recordsIn(raw.subarray(BLOCK, BLOCK + paxSize));
  const header = {
    name: records.get('path') ?? own.toString('latin1', 0, 100).replace(/\0+$/, ''),
    size: Number(records.get('size') ?? numberIn(own, 124, 12)),
    isExecutable: numberIn(own, 100, 8) === 0o700,
    mtime: numberIn(own, 136, 12),
  };
  const isSound = [header.size, header.mtime].every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!isSound || !buildTarHeader(header).equals(raw)) {
    throw new TarError(`the header at byte ${at} is invalid for a backup`);
  }
  return { header, length };
};

const numberIn = (bytes: Buffer, at: number, length: number): number =>
  Number.parseInt(bytes.toString('latin1', at, at + length), 8);

const recordsIn = (bytes: Buffer): Map<string, string> => {
  const records = new Map<string, string>();
  for (const [, key = '', value = ''] of bytes.toString().matchAll(/\d+ (path|size)=([^\n]*)\n/g)) {
    records.set(key, value);
  }
  return records;
};

const refuseName = (name: string, names: Set<string>): void => {
  const parts = name.split('/');
  const isOdd = parts.some((part) => part === '' || part === '.' || part === '..');
  if (isOdd || /[\0\n\\]/.test(name) || Buffer.byteLength(name) > MAX_NAME_LENGTH) {
    throw new TarError(
      `the archive contains a file with a forbidden name: ${JSON.stringify(name.slice(0, 100))}`,
    );
  }
  if (names.has(name)) throw new TarError(`the archive contains ${name} twice`);
  if (names.size >= MAX_ENTRIES)
    throw new TarError(`the archive contains more than the maximum of ${MAX_ENTRIES} files`);
  names.add(name);
};

const bytesAt = (file: number, at: number, length: number, fileSize: number): Buffer => {
  if (at + length > fileSize) throw new TarError('the archive is truncated');
  const bytes = Buffer.alloc(length);
  for (let got = 0; got < length; ) {
    const read = readSync(file, bytes, got, length - got, at + got);
    if (read === 0) throw new TarError('the archive is truncated');
    got += read;
  }
  return bytes;
};

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);
