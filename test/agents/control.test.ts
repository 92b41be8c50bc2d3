import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { STATUS_TRANSITIONS, verbs } from '../../src/agents/agent.js';
import type { AgentStatus } from '../../src/store/tables/agents.js';
import { inside } from '../harness/inside.js';
import { hangs, type Reply, says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { call, FINISHED, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

/** Answers when it is told to. */
const later = (reply: Reply) => {
  let answer = (): void => undefined;
  const held: Reply = (response, request) => {
    answer = () => reply(response, request);
  };
  return { held, answer: () => answer() };
};

describe('the verbs of an agent', () => {
  const stage = openForSuite(lab, startStage);
  afterEach(() => {
    stage.model.asked.length = 0;
  });

  const hanging = async (): Promise<string> => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Think long' });
    await asked;
    return id;
  };

  const put = async (id: string, status: AgentStatus): Promise<void> => {
    await stage.app.store.db.updateTable('agents').set({ status }).where('id', '=', id).execute();
  };

  for (const [verb, { from, to }] of Object.entries(verbs)) {
    for (const status of Object.keys(STATUS_TRANSITIONS) as AgentStatus[]) {
      const isPossible = ([...from] as string[]).includes(status);
      it(`${isPossible ? 'lets' : 'refuses to let'} an agent that is ${status} ${verb}`, async () => {
        stage.model.script(says({ text: 'Done.' }));
        const { id } = await stage.spawn({ prompt: 'Anything' });
        await stage.reaches(id);
        await put(id, status);
        const { status: code, body } = await stage.ask('POST', `/api/agents/${id}/${verb}`);
        if (isPossible) {
          expect([code, body.id]).to.equal([200, id]);
          if (to !== 'queued') expect(body.status).to.equal(to);
        } else {
          expect([code, body.code]).to.equal([409, 'impossible_move']);
          expect(body.message).to.equal(`Cannot ${verb} the agent. Its status is ${status}.`);
          expect((await stage.agent(id)).status).to.equal(status);
        }
        await stage.ask('DELETE', `/api/agents/${id}`);
      });
    }
  }

  it('stops a hanging model and ends the call on the wire', async () => {
    const id = await hanging();
    const { body } = await stage.ask('POST', `/api/agents/${id}/stop`);
    expect(body.status).to.equal('stopped');
    expect(await stage.model.asked[0]?.gone).to.be.true();
    expect((await stage.agent(id)).status).to.equal('stopped');
  });

  it('pauses in the middle of a call and asks again after resuming', async () => {
    const id = await hanging();
    const paused = await stage.ask('POST', `/api/agents/${id}/pause`);
    expect(paused.body).to.include({ status: 'paused', finishedAt: null });
    expect(await stage.model.asked[0]?.gone).to.be.true();
    stage.model.script(says({ text: 'Thought long enough.' }));
    await stage.ask('POST', `/api/agents/${id}/resume`);
    expect(await stage.reaches(id)).to.include({ status: 'completed', steps: 2 });
    const states = (await stage.events(id))
      .filter(({ type }) => type === 'agent.status')
      .map(({ data }) => data.status);
    expect(states).to.equal(['queued', 'running', 'paused', 'queued', 'running', 'completed']);
  });

  it('goes through many pauses and resumes, also at the same moment, without losing the agent', async () => {
    let reply = hangs;
    const storm = await startStage();
    storm.model.script(
      ...Array.from(
        { length: 50 },
        (): Reply =>
          (...of) =>
            reply(...of),
      ),
    );
    const { id } = await storm.spawn({ prompt: 'Be patient' });
    const all = ['pause', 'resume', 'pause', 'resume', 'pause', 'resume'];
    for (let turn = 0; turn < 8; turn++) {
      await Promise.all(all.map((verb) => storm.ask('POST', `/api/agents/${id}/${verb}`)));
    }
    await storm.ask('POST', `/api/agents/${id}/pause`);
    reply = says({ text: 'At last.' });
    const resumed = await storm.ask('POST', `/api/agents/${id}/resume`);
    expect(resumed.status).to.equal(200);
    expect(await storm.reaches(id)).to.include({ status: 'completed', result: 'At last.' });
    const ids = (await storm.events(id)).map((event) => event.id);
    expect(ids).to.equal(ids.map((_, at) => (ids[0] ?? 0) + at));
    expect(inside(storm.app).queue.totals().running).to.equal(0);
    await storm.stop();
  });

  it('reads a message that came while the model was thinking before it ends', async () => {
    const first = later(says({ text: 'Here it is.' }));
    stage.model.script(first.held, says({ text: 'In French: voilà.' }));
    const asked = stage.model.nextAsked();
    const { id, sessionId } = await stage.spawn({ prompt: 'Say it' });
    await asked;
    const told = await stage.ask('POST', `/api/agents/${id}/message`, { content: 'In French!' });
    expect([told.status, told.body.status]).to.equal([202, 'running']);
    first.answer();
    expect(await stage.reaches(id)).to.include({
      status: 'completed',
      result: 'In French: voilà.',
    });
    expect((await stage.messages(sessionId)).map(({ role, content }) => [role, content])).to.equal([
      ['user', 'Say it'],
      ['user', 'In French!'],
      ['assistant', 'Here it is.'],
      ['assistant', 'In French: voilà.'],
    ]);
  });

  it('gives a message that came during a tool call to the model after its result', async () => {
    const first = later(says({ toolCalls: [call('time_now')] }));
    stage.model.script(first.held, says({ text: 'Both read.' }));
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'What time is it?' });
    await asked;
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Hurry' });
    first.answer();
    expect((await stage.reaches(id)).status).to.equal('completed');
    const roles = stage.model.asked[1]?.body.messages.map(({ role }) => role);
    expect(roles).to.equal(['system', 'user', 'assistant', 'tool', 'user']);
  });

  for (const end of FINISHED) {
    it(`lets an agent that is ${end} take a message as its next turn`, async () => {
      stage.model.script(says({ text: 'One.' }), says({ text: 'Two.' }));
      const { id, sessionId } = await stage.spawn({ prompt: 'Count' });
      await stage.reaches(id);
      await put(id, end as AgentStatus);
      const told = await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Go on' });
      expect(told.status).to.equal(202);
      const agent = await stage.reaches(id, 'completed');
      await stage.reaches(id);
      expect(agent.sessionId).to.equal(sessionId);
      expect((await stage.agent(id)).result).to.equal('Two.');
    });
  }

  it('keeps a message to a paused agent until it is resumed', async () => {
    const id = await hanging();
    await stage.ask('POST', `/api/agents/${id}/pause`);
    const told = await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Never mind' });
    expect([told.status, told.body.status]).to.equal([202, 'paused']);
    stage.model.script(says({ text: 'All right.' }));
    await stage.ask('POST', `/api/agents/${id}/resume`);
    await stage.reaches(id);
    expect(stage.model.asked[1]?.body.messages.at(-1)?.content).to.equal(
      'Think long\n\nNever mind',
    );
  });

  it('removes a running agent, and its session stays readable', async () => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { id, sessionId } = await stage.spawn({ prompt: 'Remember me' });
    await asked;
    expect((await stage.ask('DELETE', `/api/agents/${id}`)).status).to.equal(204);
    expect(await stage.model.asked[0]?.gone).to.be.true();
    expect((await stage.ask('GET', `/api/agents/${id}`)).status).to.equal(404);
    expect((await stage.messages(sessionId)).map(({ content }) => content)).to.equal([
      'Remember me',
    ]);
    const { body } = await stage.ask('GET', `/api/sessions/${sessionId}`);
    expect(body.agentIds).to.equal([]);
    expect(inside(stage.app).queue.totals().running).to.equal(0);
  });

  it('refuses a second agent in a session where one is at work', async () => {
    const id = await hanging();
    const { sessionId } = await stage.agent(id);
    const second = await stage.ask('POST', '/api/agents', { prompt: 'Me too', sessionId });
    expect([second.status, second.body.code]).to.equal([409, 'session_busy']);
    await stage.ask('POST', `/api/agents/${id}/stop`);
    stage.model.script(says({ text: 'Now I may.' }));
    const third = await stage.spawn({ prompt: 'And now?', sessionId });
    expect(await stage.reaches(third.id)).to.include({ result: 'Now I may.', sessionId });
    expect(
      stage.model.asked
        .at(-1)
        ?.body.messages.map(({ content }) => content)
        .slice(1),
    ).to.equal(['Think long\n\nAnd now?']);
  });
});
