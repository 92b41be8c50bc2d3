import { basename, dirname, join } from 'node:path';
import { GgufFault, type HeaderBytes, openBytes } from './bytes.js';
import { type Metadata, readMetadata } from './metadata.js';
import { readTensors, type TensorFacts } from './tensors.js';

export interface GgufContents {
  metadata: Metadata;
  tensors: TensorFacts[];
  fileBytes: number;
}

const PART = /-(\d{5})-of-(\d{5})\.gguf$/;
const MAX_PARTS = 1000;
const MAGIC = Buffer.from('GGUF').readUInt32LE();
const DEFAULT_ALIGNMENT = 32;

/** `model-00001-of-00003.gguf` and its siblings. */
export const listGgufParts = (path: string): string[] => {
  const [suffix, , total = ''] = PART.exec(path) ?? [];
  const count = Number(total);
  if (!suffix || count === 0 || count > MAX_PARTS) return [path];
  const stem = basename(path).slice(0, -suffix.length);
  return Array.from({ length: count }, (_, at) => {
    const number = String(at + 1).padStart(5, '0');
    return join(dirname(path), `${stem}-${number}-of-${total}.gguf`);
  });
};

/** Throws GgufFault, or the error of the file system. */
export const readParts = (paths: string[]): GgufContents => {
  const parts = paths.map(readPart);
  const [first] = parts;
  if (!first) throw new GgufFault('The model has no files');
  const { metadata } = first;
  const tensors = parts.flatMap((part) => part.tensors);
  const count = readCount(metadata, 'split.count') ?? 1;
  if (count !== 0 && count !== parts.length) {
    throw new GgufFault(`The model has ${count} files, but ${parts.length} were found`);
  }
  const total = readCount(metadata, 'split.tensors.count') ?? tensors.length;
  if (total !== tensors.length) {
    throw new GgufFault(`The files contain ${tensors.length} of ${total} tensors`);
  }
  return { metadata, tensors, fileBytes: parts.reduce((sum, { size }) => sum + size, 0) };
};

const readCount = (metadata: Metadata, key: string): number | undefined => {
  const value = metadata.get(key);
  if (value === undefined || typeof value === 'number') return value;
  throw new GgufFault(`The value of ${key} is not a number`);
};

const readPart = (path: string) => {
  const from = openBytes(path);
  try {
    return readHeader(from);
  } finally {
    from.close();
  }
};

const readHeader = (from: HeaderBytes) => {
  if (from.size < 4 || from.uint32() !== MAGIC) {
    throw new GgufFault('The file does not begin with "GGUF"');
  }
  const version = from.uint32();
  if (version !== 2 && version !== 3) {
    throw new GgufFault(`GGUF version ${version} is not supported. Supported: 2 and 3`);
  }
  const tensorCount = from.count('tensors');
  const metadata = readMetadata(from, from.count('metadata keys'));
  const tensors = readTensors(from, tensorCount);
  checkPlaces(tensors, computeDataStart(metadata, from.position()), from.size);
  return { metadata, tensors, size: from.size };
};

/** After the header, aligned. */
const computeDataStart = (metadata: Metadata, end: number): number => {
  const alignment = metadata.get('general.alignment') ?? DEFAULT_ALIGNMENT;
  if (typeof alignment !== 'number' || !(alignment > 0) || alignment % 8 !== 0) {
    throw new GgufFault('The value of the metadata key general.alignment is not a multiple of 8');
  }
  return Math.ceil(end / alignment) * alignment;
};

const checkPlaces = (tensors: TensorFacts[], start: number, size: number): void => {
  const end = tensors.reduce((most, { offset, bytes }) => {
    if (offset < 0) throw new GgufFault('The start position of a tensor is invalid');
    return Math.max(most, start + offset + bytes);
  }, 0);
  if (end > size) {
    throw new GgufFault(
      `The file is truncated: the tensors end at byte ${end}, but the file has ${size} bytes`,
    );
  }
};
