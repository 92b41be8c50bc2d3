import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.js';
import type { Context } from '../command.js';
import { failed } from '../exit.js';
import { oneLine } from '../text.js';

/** Records speech into a WAV file until SIGINT. */
interface MicrophoneProgram {
  program: string;
  words(file: string): string[];
}

const MICROPHONE = platform() === 'darwin' ? ['-f', 'avfoundation', '-i', ':0'] : [];
const DEFAULT_INPUT = ['-f', 'alsa', '-i', 'default'];

/** In the order in which they are tried. */
const RECORDERS: MicrophoneProgram[] = [
  {
    program: 'arecord',
    words: (file) => ['-q', '-t', 'wav', '-f', 'S16_LE', '-r', '16000', '-c', '1', file],
  },
  {
    program: 'parecord',
    words: (file) => [
      ...['--format=s16le', '--rate=16000', '--channels=1', '--file-format=wav'],
      file,
    ],
  },
  { program: 'rec', words: (file) => ['-q', '-r', '16000', '-c', '1', '-b', '16', file] },
  {
    program: 'ffmpeg',
    words: (file) => [
      ...['-v', 'error', '-nostdin', ...(MICROPHONE.length > 0 ? MICROPHONE : DEFAULT_INPUT)],
      ...['-ar', '16000', '-ac', '1', file],
    ],
  },
];

/** Maximum time for a recorder to finish its file, in milliseconds. */
const LAST_MS = 5000;
/** Size of a WAV file without samples. */
const HEAD_BYTES = 44;

/**
 * Records until the user presses enter, and passes the WAV file to `use`. The file is deleted
 * afterwards.
 */
export const withRecording = async <T>(
  context: Context,
  use: (path: string) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-'));
  try {
    const file = join(folder, 'speech.wav');
    await record(context, file);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const record = async (context: Context, file: string): Promise<void> => {
  const begun = await beginRecording(file);
  if (begun === null) {
    const names = RECORDERS.map(({ program }) => program).join(', ');
    throw failed(`No recording program was found on this machine. Install one of: ${names}.`);
  }
  const { child, program, remarks } = begun;
  // After the end of stderr, too.
  const ended = once(child, 'close');
  try {
    await context.ask.text({ ask: 'Speak; enter stops', instead: 'the message' });
  } finally {
    child.kill('SIGINT');
    const isOver = await Promise.race([
      ended.then(() => true),
      systemClock.wait(LAST_MS, undefined, { ref: false }).then(() => false),
    ]);
    if (!isOver) child.kill('SIGKILL');
  }
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > HEAD_BYTES) return;
  const why = remarks().trim().split('\n').at(-1);
  throw failed(
    `${program} recorded nothing${why ? `: ${oneLine(why)}` : ''}.`,
    'Check that the microphone works and is not muted.',
  );
};

interface SpeechRecording {
  child: ChildProcess;
  program: string;
  remarks(): string;
}

/** Starts the first recorder that is installed. Returns null if there is none. */
const beginRecording = async (file: string): Promise<SpeechRecording | null> => {
  for (const { program, words } of RECORDERS) {
    const child = spawn(program, words(file), { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderrText = '';
    child.stderr.on('data', (piece: Buffer) => {
      stderrText = `${stderrText}${piece.toString()}`.slice(-2000);
    });
    const isThere = await once(child, 'spawn').then(
      () => true,
      () => false,
    );
    if (isThere) return { child, program, remarks: () => stderrText };
  }
  return null;
};
