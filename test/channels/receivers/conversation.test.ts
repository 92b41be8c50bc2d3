import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { hangs, says } from '../../harness/openai.js';
import * as slack from '../../harness/slack.js';
import { openForSuite } from '../../harness/suite.js';
import { openPlatforms } from './desk.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

describe('a conversation on a channel', () => {
  const desk = openForSuite(lab, openPlatforms);
  beforeEach(async () => {
    await desk.anew();
    await linkChannel(desk, desk.userId, { kind: 'slack', ...slack.ADA });
    await desk.inSlack(1);
    desk.slack.calls.length = 0;
  });

  const say = (text: string) => desk.toTeamchat(slack.written(text, desk.now()));

  const agents = async () => (await desk.ask('GET', '/api/agents')).body.agents;

  it('is answered for before the model says anything, and once of many at once', async () => {
    desk.model.script(hangs);
    const request = slack.written('first', desk.now());
    const replies = await Promise.all(Array.from({ length: 30 }, () => desk.toTeamchat(request)));
    expect(replies.every(({ status, text }) => status === 200 && text === '')).to.be.true();
    await until(agents, ({ length }) => length === 1);
    const { body } = await desk.toTeamchat(slack.commanded('/adjutant', '/status', desk.now()));
    expect(body.text).to.match(/^1 agents running/);
  });

  it('is one, however close together the first words are', async () => {
    desk.model.script(hangs);
    const words = ['one', 'two', 'three', 'four', 'five'];
    await Promise.all(words.map(say));
    await until(agents, ({ length }) => length === 1);
    const [session, ...others] = (await desk.ask('GET', '/api/sessions')).body.sessions;
    expect(others).to.equal([]);
    const messages = await desk.messages(session.id);
    expect(messages.flatMap(({ content }) => content.split('\n')).sort()).to.equal(words.sort());
    expect((await agents()).length).to.equal(1);
  });

  it('shows code as code, in each of the messages that it takes', async () => {
    const code = Array.from({ length: 300 }, (_, n) => `if (a < ${n}) { say("🦊 *${n}*"); }`);
    desk.model.script(says({ text: `Here:\n\`\`\`js\n${code.join('\n')}\n\`\`\`\nDone.` }));
    await say('Write some');
    await desk.inSlack(3);
    await until(
      async () => desk.slack.texts().at(-1) ?? '',
      (text) => text.endsWith('Done.'),
    );
    const elements = desk.slack.calls.flatMap(
      ({ blocks }) => JSON.parse(JSON.stringify(blocks))[0].elements,
    );
    const shown = (type: string) =>
      elements
        .filter((element) => element.type === type)
        .map((element) => element.elements[0].text.trim())
        .join('\n');
    expect(shown('rich_text_preformatted')).to.equal(code.join('\n'));
    expect(shown('rich_text_section')).to.equal('Here:\nDone.');
    expect(desk.slack.calls.every(({ text }) => String(text).length <= 4000)).to.be.true();
  });

  it('ends with the link, while its answer is under way too', async () => {
    desk.model.script(hangs);
    await say('first');
    await untilMatches(async () => desk.model.asked, { length: 1 });
    const [channel] = (await desk.ask('GET', '/api/channels')).body.channels;
    expect((await desk.ask('DELETE', `/api/channels/${channel.id}`)).status).to.equal(204);
    const [agent] = await agents();
    await desk.ask('POST', `/api/agents/${agent.id}/stop`);
    await desk.reaches(agent.id);
    await say('second');
    await desk.inSlack(1);
    expect(desk.slack.texts().map((text) => text.split('\n')[0])).to.equal([
      'This chat is not linked to an account, so messages here are ignored.',
    ]);
    expect((await agents()).length).to.equal(1);
  });

  it('goes on for the same account alone where the sender is linked anew', async () => {
    desk.model.script(says({ text: 'one' }), says({ text: 'two' }));
    await say('first');
    await desk.inSlack(1);
    const bob = await desk.register('bob');
    const [channel] = (await desk.ask('GET', '/api/channels')).body.channels;
    await desk.ask('DELETE', `/api/channels/${channel.id}`);
    await linkChannel(desk, bob.id, { kind: 'slack', ...slack.ADA });
    await desk.inSlack(2);
    await say('second');
    await desk.inSlack(3);
    const { sessions } = (await desk.call('GET', '/api/sessions', { token: bob.token })).body;
    expect(sessions.map(({ title }: { title: string }) => title)).to.equal(['second']);
    expect((await agents()).length).to.equal(1);
  });
});
