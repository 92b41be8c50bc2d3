import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** Scalar metadata types, with their numbers in the format. */
const VALUE_TYPES = {
  uint8: 0,
  int8: 1,
  uint16: 2,
  int16: 3,
  uint32: 4,
  int32: 5,
  float32: 6,
  bool: 7,
  string: 8,
  uint64: 10,
  int64: 11,
  float64: 12,
} as const;
const ARRAY_TYPE = 9;

type ScalarType = keyof typeof VALUE_TYPES;
type Scalar = number | bigint | boolean | string;

/** Metadata value of a GGUF file: a scalar, or a list of one type. */
export type GgufValue =
  | { type: ScalarType; value: Scalar }
  | { type: 'array'; of: ScalarType; values: readonly Scalar[] };

/** Tensor types: number in the format, values per block, and bytes per block. */
const TENSOR_TYPES = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  Q4_0: [2, 32, 18],
  Q4_1: [3, 32, 20],
  Q5_0: [6, 32, 22],
  Q5_1: [7, 32, 24],
  Q8_0: [8, 32, 34],
  Q2_K: [10, 256, 84],
  Q3_K: [11, 256, 110],
  Q4_K: [12, 256, 144],
  Q5_K: [13, 256, 176],
  Q6_K: [14, 256, 210],
  BF16: [30, 1, 2],
} as const;

export interface GgufTensor {
  name: string;
  /** Size of each dimension, the contiguous one first. */
  dims: number[];
  type: keyof typeof TENSOR_TYPES;
  bytes?: Uint8Array;
}

/** Keys and names may repeat, for intentionally broken files. */
export interface GgufContent {
  metadata: [key: string, value: GgufValue][];
  tensors: GgufTensor[];
}

const ALIGNMENT = 32;

/** Writes a GGUF file (version 3, little-endian) and returns its size in bytes. */
export const writeGguf = (path: string, { metadata, tensors }: GgufContent): number => {
  const places = placesOf(tensors);
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.length),
    ...metadata.flatMap(([key, value]) => [text(key), ...valueBytes(value)]),
    ...tensors.flatMap((tensor, at) => tensorInfo(tensor, places.offsets[at]!)),
  ]);
  const start = aligned(header.length);
  const file = openSync(path, 'w');
  try {
    ftruncateSync(file, start + places.total);
    writeSync(file, header, 0, header.length, 0);
    for (const [at, { bytes }] of tensors.entries()) {
      if (bytes) writeSync(file, bytes, 0, bytes.length, start + places.offsets[at]!);
    }
  } finally {
    closeSync(file);
  }
  return start + places.total;
};

/** Bytes of a tensor, without alignment padding. */
const tensorBytes = ({ dims, type }: Pick<GgufTensor, 'dims' | 'type'>): number => {
  const [, numbers, bytes] = TENSOR_TYPES[type];
  return (dims.reduce((all, each) => all * each, 1) / numbers) * bytes;
};

/** 32-bit floats: zeros except those set by `fill`. */
export const float32Bytes = (dims: number[], fill: (into: Float32Array) => void): Uint8Array => {
  const numbers = new Float32Array(dims.reduce((all, each) => all * each, 1));
  fill(numbers);
  return new Uint8Array(numbers.buffer);
};

const placesOf = (tensors: GgufTensor[]): { offsets: number[]; total: number } => {
  let total = 0;
  const offsets = tensors.map((tensor) => {
    const offset = total;
    total += aligned(tensorBytes(tensor));
    return offset;
  });
  return { offsets, total };
};

const tensorInfo = ({ name, dims, type }: GgufTensor, offset: number): Buffer[] => [
  text(name),
  uint32(dims.length),
  ...dims.map(uint64),
  uint32(TENSOR_TYPES[type][0]),
  uint64(offset),
];

const valueBytes = (given: GgufValue): Buffer[] => {
  if (given.type !== 'array') return [uint32(VALUE_TYPES[given.type]), scalar(given)];
  const { of, values } = given;
  const items = values.map((value) => scalar({ type: of, value }));
  return [uint32(ARRAY_TYPE), uint32(VALUE_TYPES[of]), uint64(values.length), ...items];
};

const scalar = ({ type, value }: { type: ScalarType; value: Scalar }): Buffer => {
  if (type === 'string') return text(String(value));
  const bytes = Buffer.alloc(8);
  return bytes.subarray(0, writers[type](bytes, value));
};

/** Writes a number at the start of the bytes and returns its size. */
const writers: Record<Exclude<ScalarType, 'string'>, (into: Buffer, value: Scalar) => number> = {
  uint8: (into, value) => into.writeUInt8(Number(value)),
  int8: (into, value) => into.writeInt8(Number(value)),
  uint16: (into, value) => into.writeUInt16LE(Number(value)),
  int16: (into, value) => into.writeInt16LE(Number(value)),
  uint32: (into, value) => into.writeUInt32LE(Number(value)),
  int32: (into, value) => into.writeInt32LE(Number(value)),
  float32: (into, value) => into.writeFloatLE(Number(value)),
  bool: (into, value) => into.writeUInt8(value ? 1 : 0),
  uint64: (into, value) => into.writeBigUInt64LE(BigInt(value)),
  int64: (into, value) => into.writeBigInt64LE(BigInt(value)),
  float64: (into, value) => into.writeDoubleLE(Number(value)),
};

const uint32 = (value: number): Buffer => scalar({ type: 'uint32', value });
const uint64 = (value: number): Buffer => scalar({ type: 'uint64', value });

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
};

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
