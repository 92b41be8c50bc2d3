import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CliFault, Exit, toCliFault } from '../../cli/exit.js';
import { ApiError, Unreachable } from '../../src/client/errors.js';
import { BadSessionFile } from '../../src/client/session.js';

export const lab = Lab.script();
const { describe, it } = lab;

const at = { command: 'hooks create', hadToken: true, flagOf: (path: string) => `--${path}` };
const refused = (statusCode: number, message = 'It may not be', more = {}) =>
  new ApiError({ statusCode, error: 'Refused', message, requestId: 'request_1', ...more });

/** The exit code and every line that would be printed. */
const said = (error: unknown, hadToken = true): unknown => {
  const fault = toCliFault(error, { ...at, hadToken });
  return fault instanceof CliFault ? [fault.exit, fault.message, ...fault.next] : fault;
};

describe('faultOf', () => {
  it('sends those without a session to the login', () => {
    expect(said(refused(401), false)).to.equal([
      Exit.login,
      'Not logged in. Run: adjutant login',
      'First use? Run: adjutant quickstart',
    ]);
    expect(said(refused(401))).to.equal([
      Exit.login,
      'Your login session has ended. Run: adjutant login',
    ]);
  });

  it('lists every field that the API refused, by its flag', () => {
    const details = [
      { path: 'name', message: '"name" is required' },
      { path: 'cron', message: 'must be a time' },
    ];
    expect(said(refused(400, 'Invalid request', { details }))).to.equal([
      Exit.usage,
      'Invalid request: 2 fields are invalid.',
      '  --name  is required',
      '  --cron  must be a time',
      'Request request_1. Help: adjutant hooks create --help',
    ]);
  });

  it('says what to do about each refusal', () => {
    const next = [403, 404, 409, 429, 500, 503].map((status) => said(refused(status)));
    const request = 'Request request_1';
    const it = 'It may not be.';
    expect(next).to.equal([
      [Exit.failed, it, 'Check your account: adjutant whoami', request],
      [Exit.failed, it, 'List them: adjutant hooks list', request],
      [Exit.failed, it, request],
      [Exit.failed, it, 'Try again in a few seconds.', request],
      [Exit.failed, it, 'Find the reason in the log: adjutant logs', request],
      [Exit.failed, it, 'Try again in a few seconds.', request],
    ]);
  });

  it('names the commands in place of the calls of the API', () => {
    const said409 = (message: string) => Reflect.get(Object(said(refused(409, message))), 1);
    const stage = 'POST /api/pipelines/pipeline_1/stages/my-stage';
    expect(
      said409('To complete them as well, use POST /api/tasks/task_1/complete?cascade=true'),
    ).to.equal('To complete them as well, use adjutant tasks complete task_1 --cascade.');
    expect(said409('To delete them as well, use DELETE /api/tasks/task_1?cascade=true')).to.equal(
      'To delete them as well, use adjutant tasks delete task_1 --cascade.',
    );
    expect(said409(`It waits for an approval: ${stage}/approve or ${stage}/reject`)).to.equal(
      'It waits for an approval: adjutant pipelines approve pipeline_1 my-stage or adjutant pipelines reject pipeline_1 my-stage.',
    );
    const details = [
      { path: 'tools', message: 'names an unknown tool: x; all tools: GET /api/skills/tools/all' },
    ];
    expect(Object(said(refused(400, 'Invalid request', { details })))[2]).to.equal(
      '  --tools  names an unknown tool: x; all tools: adjutant skills tools',
    );
  });

  it('does not advise to wait for what lacks a setting', () => {
    const lacking = refused(503, 'There is no embedder', { code: 'no_embedder' });
    expect(said(lacking)).to.equal([Exit.failed, 'There is no embedder.', 'Request request_1']);
  });

  it('warns where a lost request may have been done', () => {
    expect(said(new Unreachable('http://x', 'it broke', true))).to.equal([
      Exit.failed,
      'Cannot reach Adjutant at http://x: it broke.',
      'The action may have completed. Check before you repeat the command.',
    ]);
  });

  it('takes an abort for an interruption', () => {
    expect(said(new DOMException('Aborted', 'AbortError'))).to.equal([Exit.interrupted, '']);
  });

  it('names a session file that is none', () => {
    expect(said(new BadSessionFile('/x holds no logins.'))).to.equal([
      Exit.failed,
      '/x holds no logins.',
    ]);
  });

  it('leaves a mistake of its own as it is', () => {
    const mistake = new TypeError('x is not a function');
    expect(toCliFault(mistake, at)).to.shallow.equal(mistake);
  });
});
