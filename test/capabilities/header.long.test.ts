import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readHeader } from '../../src/capabilities/header.js';
import { openWorkers, type Workers } from '../../src/operations/workers.js';
import { findConfinement } from '../../src/providers/confine/find.js';
import { decoderGguf, SMALL_DECODER } from '../harness/ggufshapes.js';
import { writeGguf } from '../harness/ggufwriter.js';
import { file, LIST, many, STRING, text, uint32, uint64 } from './ggufbytes.js';

const confinement = await findConfinement({ allowUnconfined: false });

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KIB_TEXT = text('x'.repeat(1016));
const ROOM = Buffer.alloc(200);
/** Texts of 1,024 bytes each with its length, over 64 MiB in all. */
const KIB_TEXTS = many(70_000, () => KIB_TEXT);

/** Files that claim what cannot be, or too much, each with the fault that is told. */
const HOSTILE: [name: string, content: () => Buffer, fault: string][] = [
  ['nothing', () => Buffer.alloc(0), 'The file does not begin with "GGUF"'],
  [
    'another format',
    () => Buffer.from('PK\u0003\u0004'.repeat(20)),
    'The file does not begin with "GGUF"',
  ],
  [
    'a wrong version',
    () => Buffer.from('GGUFxxxx'.repeat(20)),
    'GGUF version 2021161080 is not supported. Supported: 2 and 3',
  ],
  [
    '2^60 tensors',
    () => file(2n ** 60n, 0, ROOM),
    `The file declares ${2n ** 60n} tensors, more than the file can contain`,
  ],
  [
    '2^60 keys',
    () => file(1, 2n ** 60n, ROOM),
    `The file declares ${2n ** 60n} metadata keys, more than the file can contain`,
  ],
  [
    'a key of 2^40 bytes',
    () => file(1, 1, uint64(2n ** 40n), ROOM),
    `The file declares ${2n ** 40n} bytes for a metadata key, more than the file can contain`,
  ],
  [
    'a text of 2^40 bytes',
    () => file(1, 1, text('general.name'), uint32(STRING), uint64(2n ** 40n), ROOM),
    `The file declares ${2n ** 40n} bytes for the text of "general.name", more than the file can contain`,
  ],
  [
    'a list of 2^60 values',
    () => file(1, 1, text('a'), uint32(LIST), uint32(4), uint64(2n ** 60n), ROOM),
    `The file declares ${2n ** 60n} values for the list "a", more than the file can contain`,
  ],
  [
    'a list of lists',
    () => file(1, 1, text('a'), uint32(LIST), uint32(LIST), uint64(1), ROOM),
    'The list "a" contains nested lists',
  ],
  [
    'a million keys',
    () =>
      file(
        0,
        1e6,
        many(1e6, (at) => Buffer.concat([text(`k${at}`), uint32(0), ROOM.subarray(0, 1)])),
      ),
    'The file has 1000000 metadata keys, the maximum is 65536',
  ],
  [
    'a value of no type',
    () => file(0, 1, text('a'), uint32(77), ROOM),
    'The value of "a" has unknown type 77',
  ],
  [
    'a tensor of 2^62 numbers',
    () =>
      file(1, 0, text('t'), uint32(2), uint64(2n ** 31n), uint64(2n ** 31n), uint32(0), uint64(0)),
    'The tensor "t" cannot have the shape 2147483648 × 2147483648',
  ],
  [
    'a tensor beyond its end',
    () => file(1, 0, text('t'), uint32(1), uint64(8), uint32(0), uint64(4096)),
    'The file is truncated: the tensors end at byte 4192, but the file has 57 bytes',
  ],
  [
    'a header without an end',
    () => file(0, 1, text('a'), uint32(LIST), uint32(STRING), uint64(70_000), KIB_TEXTS),
    'The GGUF header is longer than 64 MiB',
  ],
];

describe('the header of a GGUF model, read in a process of its own', () => {
  let folder: string;
  let workers: Workers;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-header-'));
    workers = openWorkers({ folder: join(folder, 'scratch'), confinement, atOnce: 2 });
  });
  after(() => rm(folder, { recursive: true }));

  const read = (path: string, signal = new AbortController().signal) =>
    readHeader(workers, { userId: 'ada', path, signal });

  it('is read where it is well', async () => {
    const path = join(folder, 'well.gguf');
    writeGguf(path, decoderGguf(SMALL_DECODER));
    const { header, fault } = await read(path);
    expect(fault).to.be.null();
    expect(header).to.include({ architecture: 'llama', kvHeads: [2, 2], vocabularySize: 300 });
  });

  it('ends as one sentence about the fault of the file', async () => {
    const path = join(folder, 'hostile.gguf');
    const told: string[][] = [];
    for (const [name, content] of HOSTILE) {
      await writeFile(path, content());
      const { fault } = await read(path);
      told.push([name, fault ?? 'none']);
    }
    const wanted = HOSTILE.map(([name, , fault]) => [name, fault]);
    expect(told.filter(([, fault], at) => fault !== wanted[at]?.[1])).to.equal([]);
  });

  it('says so wherever a file was cut off', async () => {
    const path = join(folder, 'cut.gguf');
    const bytes = writeGguf(path, decoderGguf(SMALL_DECODER));
    const whole = await readFile(path);
    const told = new Set<string>();
    for (const length of [10, 30, 300, 3000, 9000, bytes - 1]) {
      await writeFile(path, whole);
      await truncate(path, length);
      told.add((await read(path)).fault?.replace(/\d+/g, 'N') ?? 'none');
    }
    expect([...told]).to.equal([
      'The file is truncated: the GGUF header is incomplete',
      'The file is truncated: the tensors end at byte N, but the file has N bytes',
    ]);
  });

  it('tells of a folder that is no file', async () => {
    const path = join(folder, 'folder.gguf');
    await mkdir(path);
    expect(await read(path)).to.equal({ header: null, fault: 'The file is not a regular file' });
  });

  it('tells what is missing, and stops when asked to', async () => {
    const path = join(folder, 'm-00001-of-00002.gguf');
    writeGguf(path, decoderGguf(SMALL_DECODER));
    expect(await read(path)).to.equal({
      header: null,
      fault: 'The file m-00002-of-00002.gguf is missing',
    });
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    writeGguf(join(folder, 'm-00002-of-00002.gguf'), decoderGguf(SMALL_DECODER));
    await expect(read(path, stop.signal)).to.reject('enough');
  });
});
