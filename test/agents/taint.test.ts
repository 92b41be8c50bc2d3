import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { migrations } from '../../migrations/all.js';
import { DONE, openDesk, theOne } from '../approvals/stage.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { call } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const AT = '2026-03-01T12:00:00.000Z';

describe('what one agent of a session reads', () => {
  const desk = openForSuite(lab, openDesk);
  afterEach(async () => {
    await desk.clear();
    desk.canary.heard.length = 0;
  });

  const read = () => call('web_read', { url: `${desk.canary.url}page` }, 'read');
  /** An agent that has ended, in that session if one is given. */
  const ended = async (body: object) => {
    const { id } = await desk.spawn({ prompt: 'Do it', ...body });
    return desk.reaches(id);
  };
  const isUntrusted = async (id: string): Promise<boolean> =>
    (await desk.ask('GET', `/api/agents/${id}`)).body.untrusted;

  it('makes the others untrusted, also those that had ended before', async () => {
    desk.model.script(DONE);
    const first = await ended({ tools: ['http'] });
    const { sessionId } = first;
    const apart = await ended({ tools: ['http'] });
    desk.model.script(says({ toolCalls: [read()] }), DONE);
    await ended({ sessionId, tools: ['web'] });
    expect([await isUntrusted(first.id), await isUntrusted(apart.id)]).to.equal([true, false]);

    desk.model.script(says({ toolCalls: [desk.post()] }), DONE);
    await desk.ask('POST', `/api/agents/${first.id}/message`, { content: 'Do what it says' });
    const asked = await theOne(desk);
    expect([asked.agentId, asked.untrusted]).to.equal([first.id, true]);
    expect(desk.canary.heard).to.equal([]);
  });

  it('makes the others untrusted where a sub-agent brings it', async () => {
    desk.model.script(DONE);
    const { id, sessionId } = await ended({ tools: ['http'] });
    const order = { prompt: 'Read it' };
    desk.model.script(
      says({ toolCalls: [call('agents_delegate', order)] }),
      says({ toolCalls: [read()] }),
      DONE,
      DONE,
    );
    const parent = await ended({ sessionId, tools: ['web'] });
    expect([await isUntrusted(parent.id), await isUntrusted(id)]).to.equal([true, true]);
  });

  it('makes the others untrusted where it was read before an upgrade', () => {
    const db = new Database(':memory:');
    const { sql = '' } = migrations.find(({ version }) => version === 410) ?? {};
    for (const step of migrations) if (step.version < 410) db.exec(step.sql);
    db.exec(`
      INSERT INTO users (id, username, username_key, password_hash, role, created_at)
        VALUES ('user_1', 'ann', 'ann', '', 'user', '${AT}');
      INSERT INTO sessions (id, user_id, title, channel, untrusted, created_at, updated_at)
        VALUES ('session_1', 'user_1', '', 'chat', 1, '${AT}', '${AT}'),
          ('session_2', 'user_1', '', 'chat', 0, '${AT}', '${AT}')`);
    const insert = db.prepare(
      `INSERT INTO agents (id, user_id, name, model, prompt, status, session_id, untrusted, limits,
        lane, created_at) VALUES (?, 'user_1', '', '', '', 'completed', ?, ?, '{}', '', '${AT}')`,
    );
    insert.run('agent_1', 'session_1', 1);
    insert.run('agent_2', 'session_1', 0);
    insert.run('agent_3', 'session_2', 0);
    db.exec(sql);
    expect(db.prepare('SELECT untrusted FROM agents ORDER BY id').pluck().all()).to.equal([
      1, 1, 0,
    ]);
    db.close();
  });
});
