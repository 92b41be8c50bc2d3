import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DecodeFailed, type DecodeJob, SAMPLE_RATE, type SampleBlock } from './job.js';

const BYTES = 2;
const MAX_REMARK_LENGTH = 300;

/** Only this file in this format. */
export async function* readByFfmpeg({
  path,
  kind,
  ffmpeg,
  mostSeconds,
}: DecodeJob): AsyncGenerator<SampleBlock> {
  if (ffmpeg === null) {
    throw new DecodeFailed(
      'unsupported',
      `${kind.mediaType} requires ffmpeg, which is not installed on the machine of the daemon. Install ffmpeg there`,
    );
  }
  const input = ['-protocol_whitelist', 'file,pipe', '-f', kind.format, '-i', path];
  const output = ['-vn', '-sn', '-dn', '-map', '0:a:0', '-t', String(mostSeconds + 1)];
  const form = ['-f', 's16le', '-ar', String(SAMPLE_RATE), '-ac', '1', 'pipe:1'];
  const args = ['-nostdin', '-hide_banner', '-v', 'error', ...input, ...output, ...form];
  const child = spawn(ffmpeg, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let remark = '';
  child.stderr.on('data', (text) => {
    remark = `${remark}${text}`.slice(0, MAX_REMARK_LENGTH);
  });
  let isEmpty = true;
  let rest = Buffer.alloc(0);
  for await (const chunk of child.stdout) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % BYTES);
    rest = bytes.subarray(whole);
    if (whole === 0) continue;
    isEmpty = false;
    const samples = Float32Array.from(
      { length: whole / BYTES },
      (_, at) => bytes.readInt16LE(at * BYTES) / 2 ** 15,
    );
    yield { channels: [samples], rate: SAMPLE_RATE };
  }
  await ended;
  if (isEmpty)
    throw new DecodeFailed('damaged', `ffmpeg found no audio: ${getFfmpegError(remark, path)}`);
}

const getFfmpegError = (remark: string, path: string): string =>
  remark.replaceAll(path, 'the file').trim().split('\n').at(-1) || 'no audio stream';
