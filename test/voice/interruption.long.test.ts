import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/client.js';
import { PASSWORD, until, untilMatches } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { placeSpeechEngine } from '../harness/speech.js';
import { type SentAudio, sendAudio, speak, startVoice, unlessSpeech, withSpeech } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Above the size of the first piece, below that of the second. */
const SHORT_BYTES = 6 * 32_000;

/**
 * An engine that recognizes two words in each piece. All but short pieces wait for a file beside the
 * engine, which cannot write: it is confined.
 */
const GATED = `#!/bin/sh
while [ "$(wc -c < piece.wav)" -gt ${SHORT_BYTES} ] && [ ! -e "$(dirname "$0")/open" ]; do
  sleep 0.05
done
echo 'hello world'
echo '<s> 0.000 0.100 1.000000'
echo 'hello 0.110 0.500 1.000000'
echo 'world 0.510 0.900 1.000000'
`;
const NAME = 'adjutant-test-gated';
const ENDED = ['completed', 'cancelled', 'failed'];

/** Two words, a long pause and speech of a minute and a half: a short piece and several long ones. */
const longSpeech = async (): Promise<SentAudio> => {
  const spoken = await speak('hello world');
  const [head, samples] = [spoken.subarray(0, 44), spoken.subarray(44)];
  const pause = Buffer.alloc(2 * 16_000);
  const long = Array.from({ length: 40 }, () => [samples, pause]).flat();
  const all = Buffer.concat([samples, ...Array(4).fill(pause), ...long]);
  const content = Buffer.concat([head, all]);
  content.writeUInt32LE(content.length - 8, 4);
  content.writeUInt32LE(all.length, 40);
  return { name: 'long.wav', content };
};

describe(`a transcription that is interrupted${unlessSpeech}`, () => {
  let audio: SentAudio;
  const engine = placeSpeechEngine(GATED, NAME);
  const gate = {
    open: () => writeFile(join(engine, 'open'), ''),
    close: () => rm(join(engine, 'open'), { force: true }),
  };

  before(async () => {
    if (!('skip' in withSpeech)) audio = await longSpeech();
  });
  after(gate.close);

  it('goes on after a kill, with each piece once', {
    ...withSpeech,
  }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-voice-'));
    const env = { ADJUTANT_VOICE_PATH: engine };
    let daemon = await startDaemon({ home, env });
    const account = { username: 'owner', password: PASSWORD };
    const { token } = await createClient({ url: daemon.url }).auth.register({ body: account });
    const client = () => createClient({ url: daemon.url }).with({ token });
    const begin = async (): Promise<string> =>
      (await sendAudio(daemon, token, audio, {}, 0)).body.id;
    const reaches = (id: string, fits: (of: { status: string; segments: unknown[] }) => boolean) =>
      until(() => client().voice.get({ id }), fits);

    await gate.open();
    const whole = await reaches(await begin(), ({ status }) => ENDED.includes(status));
    expect(whole.segments.length).to.be.above(3);

    await gate.close();
    const id = await begin();
    await reaches(id, ({ segments }) => segments.length > 0);
    const { status, segments } = await client().voice.get({ id });
    expect([status, segments.length]).to.equal(['running', 1]);
    await daemon.end('SIGKILL');
    daemon = await startDaemon({ home, env });
    await gate.open();
    const ended = await reaches(id, (of) => ENDED.includes(of.status));
    expect(ended.status).to.equal('completed');
    expect(ended.segments).to.equal(whole.segments);
    expect(ended.segments.slice(0, segments.length)).to.equal(segments);
    expect(await readdir(join(home, 'voice'))).to.equal([]);
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true });
  });

  it('keeps what was transcribed when it is cancelled, and no audio', withSpeech, async () => {
    await gate.close();
    const stage = await startVoice({ config: { voicePath: [engine] } });
    const begin = async (): Promise<string> =>
      (await sendAudio(stage, stage.token, audio, {}, 0)).body.id;
    const path = (id: string) => `/api/voice/transcriptions/${id}`;
    const get = async (id: string) => (await stage.ask('GET', path(id))).body;
    const running = await begin();
    await until(
      () => get(running),
      ({ segments }) => segments.length > 0,
    );
    // A user's lane runs four at once.
    const others = await Promise.all([begin(), begin(), begin()]);
    await until(
      () => Promise.all(others.map(get)),
      (all) => all.every(({ status }) => status === 'running'),
    );
    const waiting = await begin();
    expect((await get(waiting)).status).to.equal('queued');

    const cancelled = await stage.ask('POST', `${path(waiting)}/cancel`);
    expect([cancelled.status, cancelled.body.status]).to.equal([200, 'cancelled']);
    const left = await readdir(join(stage.home, 'voice'));
    expect(left.filter((file) => file.startsWith(waiting))).to.equal([]);
    expect(left.length).to.be.above(0);

    for (const id of [running, ...others]) {
      expect((await stage.ask('POST', `${path(id)}/cancel`)).status).to.equal(200);
    }
    const ended = await until(
      () => get(running),
      ({ status }) => ENDED.includes(status),
    );
    expect([ended.status, ended.text.startsWith('hello world')]).to.equal(['cancelled', true]);
    await untilMatches(() => readdir(join(stage.home, 'voice')), { length: 0 });
    await stage.stop();
  });

  it('keeps the audio of 20 that wait or run, and of none beyond', withSpeech, async () => {
    await gate.close();
    const stage = await startVoice({ config: { voicePath: [engine] } });
    const begin = () => sendAudio(stage, stage.token, audio, {}, 0);
    for (let n = 0; n < 20; n++) expect((await begin()).status).to.equal(202);
    const beyond = await begin();
    expect([beyond.status, beyond.body.message]).to.equal([
      409,
      'You already have 20 unfinished operations of the kind voice.transcribe, which is the maximum. Wait until an operation has ended, or cancel one of these operations',
    ]);
    const names = await readdir(join(stage.home, 'voice'));
    expect(new Set(names.map((name) => name.replace(/\..*$/, ''))).size).to.equal(20);
    await gate.open();
    await stage.stop();
  });
});
