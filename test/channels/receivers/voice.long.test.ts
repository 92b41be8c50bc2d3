import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import * as bot from '../../harness/telegram.js';
import { convert, MELODY, speak, synthesize, unlessSpeech, withSpeech } from '../../voice/stage.js';
import { type Desk, openPlatforms } from './desk.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe(`a voice message in a linked chat${unlessSpeech}`, {
  ...withSpeech,
}, () => {
  let desk: Desk;
  let update = 0;
  let hello: Buffer;
  before(async () => {
    if (withSpeech.skip) return;
    desk = await openPlatforms({ voicePath: ['/usr/bin'] });
    hello = await convert(await speak('hello world'), 'voice.ogg', ['-c:a', 'libopus']);
  });
  beforeEach(async () => {
    if (withSpeech.skip) return;
    await desk.anew();
    await linkChannel(desk, desk.userId, { kind: 'telegram', ...bot.ADA });
    await desk.inTelegram(1);
    desk.telegram.calls.length = 0;
  });
  after(() => desk?.stop());

  const agents = async () => (await desk.ask('GET', '/api/agents')).body.agents;
  const answers = async (count: number) =>
    (await desk.inTelegram(count)).map(({ text }) => String(text));
  const send = (content: Buffer, more: object = {}) => {
    update += 1;
    const id = `voice${update}`;
    desk.telegram.files.set(id, { content });
    const voice = { file_id: id, duration: 1, mime_type: 'audio/ogg' };
    return desk.toMessenger(bot.written(update, '', { text: undefined, voice, ...more }));
  };

  it('is read as chat, and its words are shown back', async () => {
    desk.model.script(says({ text: 'Hello to you.' }));
    const before = (await agents()).length;
    await send(hello);
    const said = await answers(2);
    expect(said.sort()).to.equal(['Transcript: “hello world”', 'Hello to you.'].sort());
    const [agent, ...others] = await agents();
    expect([agent.prompt, others.length]).to.equal(['hello world', before]);
  });

  it('obeys no commands that are spoken, and keeps its caption', async () => {
    desk.model.script(says({ text: 'Noted.' }));
    await send(hello, { caption: 'Listen:' });
    await answers(2);
    const [agent] = await agents();
    expect(agent.prompt).to.equal('Listen:\nhello world');
  });

  it('says why it was not read, and starts no agent', async () => {
    const before = (await agents()).length;
    await send(await synthesize('anullsrc=r=16000:d=2', 'silence.ogg'));
    expect((await answers(1)).at(-1)).to.equal(
      '"voice message" could not be transcribed: it contains only silence.',
    );
    await send(await synthesize(MELODY(5), 'music.ogg'));
    expect((await answers(2)).at(-1)).to.contain('it contains no speech');
    await send(Buffer.from('This is no audio at all.'));
    expect((await answers(3)).at(-1)).to.contain(
      'cannot be transcribed: Invalid request: audio is no',
    );
    expect((await agents()).length).to.equal(before);
  });

  it('that was forwarded is shown back, and is nobody’s order', async () => {
    const before = (await agents()).length;
    await send(hello, { forward_origin: { type: 'hidden_user', sender_user_name: 'Mallory' } });
    expect((await answers(1)).at(-1)).to.equal(
      'Transcript: “hello world”\nThe message was forwarded, so it was not passed to your agents.',
    );
    expect((await agents()).length).to.equal(before);
  });

  it('is transcribed once, however often it is delivered', async () => {
    desk.model.script(says({ text: 'Once.' }));
    const before = (await agents()).length;
    await send(hello);
    update -= 1;
    await send(hello);
    await answers(2);
    const list = async () => (await desk.ask('GET', '/api/operations?kind=channels.file')).body;
    await until(list, ({ operations }) =>
      operations.every(
        ({ status }: { status: string }) => status === 'completed' || status === 'failed',
      ),
    );
    expect([(await answers(2)).length, (await agents()).length]).to.equal([2, before + 1]);
  });
});
