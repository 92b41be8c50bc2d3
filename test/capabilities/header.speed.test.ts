import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { decoderGguf, SMALL_DECODER } from '../harness/ggufshapes.js';
import { writeGguf } from '../harness/ggufwriter.js';
import { file, LIST, many, STRING, text, uint32, uint64 } from './ggufbytes.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the header of a GGUF model, read in a process of its own', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-header-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('is read alone: of 800 MB some 100 KB', async () => {
    const path = join(folder, 'large.gguf');
    const bytes = writeGguf(
      path,
      decoderGguf({
        ...SMALL_DECODER,
        embedding: 2048,
        feedForward: 5632,
        layers: 5,
        vocabulary: 4000,
      }),
    );
    expect(bytes).to.be.above(700e6);
    const small = join(folder, 'small.gguf');
    writeGguf(small, decoderGguf(SMALL_DECODER));
    const { maxRss, seconds } = await measured(path);
    // What Node itself takes differs from run to run.
    expect(maxRss - (await measured(small)).maxRss).to.be.below(50e6);
    expect(seconds).to.be.below(5);
  });

  it('stays within 256 MB and 10 seconds, whatever it holds', async () => {
    const path = join(folder, 'wide.gguf');
    const token = (at: number): Buffer => text(`a token that is long, ${at}`);
    const count = 1_000_000;
    await writeFile(
      path,
      file(
        0,
        1,
        ...[text('tokenizer.ggml.tokens'), uint32(LIST), uint32(STRING), uint64(count)],
        many(count, token),
      ),
    );
    const { maxRss, seconds, said } = await measured(path);
    expect(said).to.contain('The metadata key general.architecture is missing');
    expect(maxRss).to.be.below(256e6);
    expect(seconds).to.be.below(10);
  });
});

/** Runs the reading program by itself. */
const measured = async (path: string) => {
  const program = fileURLToPath(new URL('../../src/providers/gguf/main.js', import.meta.url));
  // Not `resourceUsage().maxRSS`: after an exec Linux counts the peak of the parent in it, too.
  const tell =
    'data:text/javascript,import{readFileSync}from"node:fs";process.on("exit",()=>console.error(' +
    '/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]))';
  const since = performance.now();
  const child = spawn(process.execPath, ['--import', tell, program]);
  child.stdin.end(JSON.stringify([path]));
  const [said, kilobytes] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  const seconds = (performance.now() - since) / 1000;
  return { said, maxRss: Number(kilobytes) * 1024, seconds };
};
