import { GgufFault, type HeaderBytes } from './bytes.js';
import { quoted, takeText } from './metadata.js';

export interface TensorFacts {
  name: string;
  type: string;
  elements: number;
  bytes: number;
  /** From the beginning of the tensor data. */
  offset: number;
}

/** By number: name, elements per block, bytes per block. */
const TYPES: Record<number, [name: string, elements: number, bytes: number]> = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  9: ['Q8_1', 32, 36],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  15: ['Q8_K', 256, 292],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  24: ['I8', 1, 1],
  25: ['I16', 1, 2],
  26: ['I32', 1, 4],
  27: ['I64', 1, 8],
  28: ['F64', 1, 8],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  39: ['MXFP4', 32, 17],
  40: ['NVFP4', 64, 36],
  41: ['Q1_0', 128, 18],
  42: ['Q2_0', 64, 18],
};
/** Limits of llama.cpp, and our limit of tensors. */
const MAX_DIMENSIONS = 4;
const MAX_NAME_LENGTH = 64;
const MAX_TENSORS = 65_536;

/** Throws GgufFault for invalid or duplicate tensors. */
export const readTensors = (from: HeaderBytes, count: number): TensorFacts[] => {
  if (count > MAX_TENSORS) {
    throw new GgufFault(`The file has ${count} tensors, the maximum is ${MAX_TENSORS}`);
  }
  const tensors = Array.from({ length: count }, () => readTensor(from));
  const names = new Set<string>();
  for (const { name } of tensors) {
    if (names.has(name)) throw new GgufFault(`Duplicate tensor ${quoted(name)}`);
    names.add(name);
  }
  return tensors;
};

const readTensor = (from: HeaderBytes): TensorFacts => {
  const name = takeText(from, 'the name of a tensor', MAX_NAME_LENGTH);
  const dimensions = from.uint32();
  if (dimensions > MAX_DIMENSIONS) {
    throw new GgufFault(
      `The tensor ${quoted(name)} has ${dimensions} dimensions, the maximum is ${MAX_DIMENSIONS}`,
    );
  }
  const shape = Array.from({ length: dimensions }, () => from.int64());
  const number = from.uint32();
  const [type, blockElements, blockBytes] = TYPES[number] ?? [];
  if (!type || !blockElements || !blockBytes) {
    throw new GgufFault(`The tensor ${quoted(name)} has unknown type ${number}`);
  }
  const elements = shape.reduce((product, each) => product * each, 1);
  const bytes = (elements / blockElements) * blockBytes;
  const isPossible = shape.every((each) => each > 0) && (shape[0] ?? 1) % blockElements === 0;
  if (!isPossible || elements > Number.MAX_SAFE_INTEGER) {
    throw new GgufFault(`The tensor ${quoted(name)} cannot have the shape ${shape.join(' × ')}`);
  }
  return { name, type, elements, bytes, offset: from.int64() };
};
