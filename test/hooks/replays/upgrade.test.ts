import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { migrations } from '../../../migrations/all.js';

export const lab = Lab.script();
const { describe, it } = lab;

const AT = '2026-03-01T12:00:00.000Z';
const VERSION = 411;

describe('an upgrade', () => {
  it('names the hooks of a replay that was begun before', () => {
    const db = new Database(':memory:');
    for (const { version, sql } of migrations) if (version < VERSION) db.exec(sql);
    const user = db.prepare(
      `INSERT INTO users (id, username, username_key, password_hash, role, created_at)
       VALUES (?, ?, ?, '', 'user', '${AT}')`,
    );
    for (const name of ['ann', 'bob']) user.run(name, name, name);
    const hook = db.prepare(
      `INSERT INTO hooks (id, user_id, name, trigger, trigger_config, action, action_config,
        enabled, conditions, created_at, updated_at)
       VALUES (?, ?, '', 'schedule', '{}', 'notify', '{}', 1, '[]', '${AT}', '${AT}')`,
    );
    for (const [id, of] of [
      ['a', 'ann'],
      ['b', 'ann'],
      ['c', 'bob'],
    ])
      hook.run(id, of);
    const operation = db.prepare(
      `INSERT INTO operations (id, user_id, kind, resource_kind, resource_id, title, status, input,
        created_at) VALUES (?, 'ann', ?, 'user', 'ann', '', ?, ?, '${AT}')`,
    );
    const [all, one] = [{ filter: { hookId: null } }, { filter: { hookId: 'b' } }];
    operation.run('1', 'hooks.replay', 'running', JSON.stringify(all));
    operation.run('2', 'hooks.replay', 'queued', JSON.stringify(one));
    operation.run('3', 'hooks.replay', 'completed', JSON.stringify(all));
    operation.run('4', 'outbound.resend', 'queued', '{}');
    for (const { version, sql } of migrations) if (version >= VERSION) db.exec(sql);
    const inputs = db.prepare('SELECT input FROM operations ORDER BY id').pluck().all();
    expect(inputs.map((input) => JSON.parse(String(input)))).to.equal([
      { ...all, hookIds: ['a', 'b'] },
      { ...one, hookIds: ['b'] },
      all,
      {},
    ]);
    db.close();
  });
});
