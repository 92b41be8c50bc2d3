import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openStepLines } from '../../../cli/agents/steplines.js';
import { frozenClock } from '../../harness/clock.js';
import { dictated, says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { staying } from '../harness.js';
import { openModelWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const AGENT = 'agent_1';
const event = (type: 'agent.status' | 'agent.tool_call', data: Record<string, unknown>) => ({
  ...{ id: 3, type, agentId: AGENT, data },
  at: '2026-03-01T11:58:58.000Z',
});

describe('the lines below the events', () => {
  let close = (): void => {};
  afterEach(() => close());

  const opened = () => {
    let written = '';
    const piece = (text: string): void => {
      written += text;
    };
    const clock = frozenClock(Date.parse('2026-03-01T12:00:00.000Z'));
    const lines = openStepLines({ piece, width: 60 }, clock);
    close = lines.close;
    const grew = (from: number, text: string) =>
      lines.grew({ agentId: AGENT, step: 1, from, text });
    return { ...lines, clock, grew, piece, screen: () => staying(written) };
  };

  it('show the reply as it is written, and the time of the step', () => {
    const { after, grew, screen } = opened();
    after(event('agent.status', { status: 'running' }));
    grew(0, 'Two similar issues were');
    grew(23, ' closed by 1.4.2,\u001b[2J and so');
    expect(screen().split('\n')).to.equal([
      '         1:02  writes    Two similar issues were closed by',
      '                         1.4.2,\\x1b[2J and so',
    ]);
  });

  it('are gone when something is printed, and when it ends', () => {
    const { after, grew, clear, piece, screen } = opened();
    after(event('agent.status', { status: 'running' }));
    grew(0, 'One\ntwo\nthree');
    clear();
    piece('an event\n');
    expect(screen()).to.equal('an event\n');
    grew(0, 'Four');
    close();
    expect(screen()).to.equal('an event\n');
  });

  it('show the last lines of a long reply, and nothing of an agent that rests', () => {
    const { after, grew, screen } = opened();
    grew(0, 'nobody knows since when');
    expect(screen()).to.equal('');
    after(event('agent.status', { status: 'running' }));
    grew(0, Array.from({ length: 30 }, (_, nth) => `line ${nth}`).join('\n'));
    expect(
      screen()
        .split('\n')
        .map((line) => line.trim().slice(-7)),
    ).to.equal([...[22, 23, 24, 25, 26, 27, 28, 29].map((nth) => `line ${nth}`)]);
    after(event('agent.status', { status: 'paused' }));
    close();
    expect(screen()).to.equal('');
  });

  it('wait for news while the daemon is lost, and have no word twice after that', () => {
    const { after, grew, pause, screen } = opened();
    after(event('agent.status', { status: 'running' }));
    grew(0, 'One two');
    pause();
    expect(screen()).to.equal('');
    grew(4, 'two three');
    expect(screen()).to.equal('         1:02  writes    One two three');
  });

  it('say each second what is under way', () => {
    const { after, clock, screen } = opened();
    after(event('agent.tool_call', { phase: 'call', tool: 'shell_run' }));
    expect(screen()).to.equal('');
    for (const time of ['1:03', '1:04']) {
      clock.forward(1000);
      expect(screen()).to.equal(`         ${time}  now       running shell_run`);
    }
  });
});

describe('agents tail of a reply that is being written', () => {
  const world = openForSuite(lab, openModelWorld);

  it('shows its words on a terminal, and leaves the events alone', async () => {
    const { reply, say } = dictated();
    world.model.script(reply);
    const { id } = await world.client.agents.spawn({ body: { prompt: 'Think' } });
    const writing = setInterval(() => void say('word '), 100);
    const { code, stdout } = await world.cli(['agents', 'tail', id], {
      terminal: 80,
      until: /writes {4}.*word word/,
    });
    clearInterval(writing);
    expect(code).to.equal(130);
    const events = stdout.split('\n').slice(1);
    expect(events.map((line) => line.slice(15))).to.equal([
      'status    queued',
      'status    running',
      '',
    ]);
    await world.client.agents.stop({ id });
  });

  it('prints whole messages alone in a pipe, and says what was cut off', async () => {
    const text = 'The first of three';
    world.model.script(says({ text, finish: 'length' }), says({ text, finish: 'length' }));
    const { id } = await world.client.agents.spawn({ body: { prompt: 'List' } });
    const tail = (terminal?: number) =>
      world.cli(['agents', 'tail', id, '--until-done'], terminal ? { terminal } : {});
    const piped = (await tail()).stdout.split('\n').map((line) => line.split('\t').slice(2));
    expect(piped[2]).to.equal(['agent.message', text]);
    const shown = (await tail(100)).stdout.split('\n').map((line) => line.slice(25));
    expect(shown.slice(3, 5)).to.equal([
      text,
      "-- The reply was cut off at the model's output limit. --",
    ]);
    const chat = await world.cli(['chat', 'List']);
    expect([chat.code, chat.stdout, chat.stderr]).to.equal([
      0,
      `${text}\n`,
      "The reply was cut off at the model's output limit.\n",
    ]);
  });
});
