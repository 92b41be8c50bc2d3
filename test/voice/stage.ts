import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Reply, startApp, type TestApp, type TestOptions, until } from '../harness/app.js';

/** The programs of Debian with which the tests make and recognize speech. */
const NEEDED = ['flite', 'ffmpeg', 'pocketsphinx_continuous'];

/** The options of a test that needs these programs. */
export const withSpeech = NEEDED.every((name) => existsSync(join('/usr/bin', name)))
  ? {}
  : { skip: true };
/** The reason for which such tests are skipped, for their title. */
export const unlessSpeech = 'skip' in withSpeech ? ` (skipped: it needs ${NEEDED.join(', ')})` : '';

export interface SentAudio {
  name: string;
  content: Buffer;
}

/** A daemon with engines, and what tests of voice do all the time. */
export interface VoiceStage extends TestApp {
  token: string;
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Sends audio as a form. */
  /** Also waits for the end if it takes longer than the request waits. */
  send(audio: SentAudio, fields?: Record<string, string>): Promise<Reply>;
  /** Waits for the end of a transcription, and returns it. */
  ended(id: string): Promise<Reply['body']>;
}

export const startVoice = async (options: TestOptions = {}): Promise<VoiceStage> => {
  const config = { voicePath: ['/usr/bin'], ...options.config };
  const app = await startApp({ ...options, config });
  const { token } = await app.register('owner');
  const ask: VoiceStage['ask'] = (method, path, body) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const ended: VoiceStage['ended'] = (id) =>
    until(
      async () => (await ask('GET', `/api/voice/transcriptions/${id}?wait=5`)).body,
      ({ status }) => !['queued', 'running'].includes(status),
    );
  return Object.assign(Object.create(app), {
    token,
    ask,
    send: async (audio: SentAudio, fields?: Record<string, string>) => {
      const reply = await sendAudio(app, token, audio, fields);
      if (reply.status !== 202) return reply;
      return { ...reply, status: 200, body: await ended(reply.body.id) };
    },
    ended,
  });
};

/** Sends audio to be transcribed, as a browser does; `wait` is in seconds. */
export const sendAudio = async (
  { url }: { url: string },
  token: string,
  { name, content }: SentAudio,
  fields: Record<string, string> = {},
  wait = 60,
): Promise<Reply> => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('audio', new Blob([new Uint8Array(content)]), name);
  const response = await fetch(`${url}/api/voice/transcribe?wait=${wait}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  const text = await response.text();
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, text, body: JSON.parse(text) };
};

/** Speaks a text, and returns it as a WAV file. */
export const speak = (text: string, voice: 'slt' | 'rms' = 'slt'): Promise<Buffer> =>
  inFolder(async (folder) => {
    const path = join(folder, 'spoken.wav');
    execFileSync('flite', ['-voice', voice, '-t', text, '-o', path]);
    return readFile(path);
  });

/** Turns audio into another file by ffmpeg; `to` is its name, which says the container. */
export const convert = (audio: Buffer, to: string, args: string[] = []): Promise<Buffer> =>
  inFolder(async (folder) => {
    const from = join(folder, 'from.wav');
    await writeFile(from, audio);
    const path = join(folder, to);
    execFileSync('ffmpeg', ['-v', 'error', '-i', from, ...args, path]);
    return readFile(path);
  });

/** Makes audio of a source of ffmpeg: `anullsrc=d=3`. */
export const synthesize = (source: string, to = 'made.wav'): Promise<Buffer> =>
  inFolder(async (folder) => {
    const path = join(folder, to);
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, path]);
    return readFile(path);
  });

/** A melody of plucked chords with a drum, for so many seconds. */
export const MELODY = (seconds: number): string =>
  `aevalsrc='0.25*exp(-4*mod(t,0.5))*(sin(2*PI*262*pow(2,floor(mod(t*2,8))*2/12)*t)+0.5*sin(4*PI*262*pow(2,floor(mod(t*2,8))*2/12)*t))+0.2*exp(-20*mod(t,0.5))*(2*random(0)-1)':s=44100:d=${seconds}`;

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-voice-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
