import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { REPLY_MARK } from '../../../src/providers/replies/platform.js';
import { frozenClock, until } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { says } from '../../harness/openai.js';
import { answers, ISSUE, openReplyStage, type ReplyStage, TOKEN } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const clock = frozenClock();
let stage: ReplyStage;
before(async () => {
  stage = await openReplyStage({ egressAllow: ['127.0.0.1'] }, clock);
});
after(() => stage.stop());
beforeEach(() => {
  stage.forge.comments = [];
  stage.forge.requests = [];
  stage.forge.before = () => false;
});

const COMMIT = 'a'.repeat(40);
const LINEAR_ID = '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9';
const comment = (body: string, sender: object = ISSUE.sender) => ({
  ...ISSUE,
  action: 'created',
  comment: { body },
  sender,
});

interface PlatformCase {
  preset: string;
  body: object;
  /** Path of the request. */
  at: string;
  object: string;
  authorization?: string;
  /** Path of the URL of the reply; null if the platform has none. */
  url?: string | null;
}

const gitlab = (more: object) => ({
  project: { id: 15, path_with_namespace: 'team/app' },
  ...more,
});
const CASES: PlatformCase[] = [
  {
    preset: 'github',
    body: ISSUE,
    at: '/api/v3/repos/octo/hello/issues/7/comments',
    object: 'octo/hello#7',
    url: '/comment-1000',
  },
  {
    preset: 'github',
    body: { repository: ISSUE.repository, pull_request: { number: 8, head: { sha: COMMIT } } },
    at: '/api/v3/repos/octo/hello/issues/8/comments',
    object: 'octo/hello#8',
    url: '/comment-1000',
  },
  {
    preset: 'github',
    body: { repository: ISSUE.repository, ref: 'refs/heads/main', after: COMMIT },
    at: `/api/v3/repos/octo/hello/commits/${COMMIT}/comments`,
    object: `octo/hello@${COMMIT.slice(0, 12)}`,
    url: '/comment-1000',
  },
  {
    preset: 'gitea',
    body: ISSUE,
    at: '/api/v1/repos/octo/hello/issues/7/comments',
    object: 'octo/hello#7',
    url: '/comment-1000',
  },
  {
    preset: 'gitlab',
    body: gitlab({ object_kind: 'issue', object_attributes: { id: 301, iid: 23 } }),
    at: '/api/v4/projects/15/issues/23/notes',
    object: 'team/app#23',
    url: '/team/app/-/issues/23#note_1000',
  },
  {
    preset: 'gitlab',
    body: gitlab({
      object_kind: 'note',
      merge_request: { iid: 4 },
      object_attributes: { note: 'Hi' },
    }),
    at: '/api/v4/projects/15/merge_requests/4/notes',
    object: 'team/app!4',
    url: '/team/app/-/merge_requests/4#note_1000',
  },
  {
    preset: 'gitlab',
    body: gitlab({ object_kind: 'push', after: COMMIT }),
    at: `/api/v4/projects/15/repository/commits/${COMMIT}/comments`,
    object: `team/app@${COMMIT.slice(0, 12)}`,
    url: null,
  },
  {
    preset: 'jira',
    body: { issue: { key: 'OPS-12' } },
    at: '/rest/api/2/issue/OPS-12/comment',
    object: 'OPS-12',
    url: '/browse/OPS-12?focusedCommentId=1000',
  },
  {
    preset: 'linear',
    body: { type: 'Issue', data: { id: LINEAR_ID, identifier: 'ENG-5' } },
    at: `/graphql ${LINEAR_ID}`,
    object: 'ENG-5',
    url: '/comment-0',
  },
  {
    preset: 'slack',
    body: { event: { type: 'message', channel: 'C012AB3CD', ts: '1700000000.000100', text: 'Hi' } },
    at: '/api/chat.postMessage',
    object: 'C012AB3CD:1700000000.000100',
    url: null,
  },
];

describe('a hook with a reply', () => {
  it('posts the result of its agent to the object of the delivery, on each platform', async () => {
    for (const [nth, each] of CASES.entries()) {
      stage.forge.comments = [];
      const id = await stage.replier(`platform-${nth}`, { preset: each.preset });
      answers(stage, 'It is a **bug**.');
      await stage.deliver(`platform-${nth}`, each.body);
      const reply = await stage.reply(id, 'sent');
      expect([reply.object, reply.error, reply.attempts], each.at).to.equal([each.object, null, 1]);
      const url = each.url ? `${stage.forge.url}${each.url}` : null;
      expect(reply.url, each.at).to.equal(url);
      expect(reply.executionId).to.equal((await stage.run(id)).id);
      const [posted, ...more] = stage.forge.comments;
      expect([posted?.at, more], each.at).to.equal([each.at, []]);
      expect(posted?.text.endsWith(REPLY_MARK), each.at).to.be.true();
      expect(posted?.text).to.contain('bug');
      const { authorization, headers } = stage.forge.requests.at(-1) ?? { headers: {} };
      expect(authorization).to.equal(`Bearer ${TOKEN}`);
      expect(headers['content-type']).to.contain('application/json');
    }
  });

  it('changes its comment on the same object with the mode update, on each platform', async () => {
    const [issue, , , ...others] = CASES;
    for (const [nth, each] of [issue, ...others].entries()) {
      if (!each || (each.url === null && each.preset === 'gitlab')) continue;
      stage.forge.comments = [];
      const id = await stage.replier(`update-${nth}`, { preset: each.preset, mode: 'update' });
      answers(stage, 'First', 'Second', 'Third');
      await stage.deliver(`update-${nth}`, each.body);
      await stage.reply(id, 'sent');
      await stage.deliver(`update-${nth}`, each.body);
      await stage.reply(id, 'sent', 2);
      const texts = stage.forge.comments.map(({ text }) => text.replace(REPLY_MARK, ''));
      expect(texts, each.at).to.equal(['Second']);
      // Somebody deletes it.
      stage.forge.comments = [];
      await stage.deliver(`update-${nth}`, each.body);
      await stage.reply(id, 'sent', 3);
      expect(stage.forge.comments.length, each.at).to.equal(1);
    }
  });

  it('posts JSON to a URL of the owner', async () => {
    const url = `${stage.forge.url}/sink/{{webhook.body.issue.number}}`;
    const id = await stage.replier('own', { preset: 'url', url, credentialId: undefined });
    stage.forge.before = (_, response) => {
      response.end('{"url":"https://example.org/1"}');
      return true;
    };
    answers(stage, 'Done');
    await stage.deliver('own', ISSUE);
    const reply = await stage.reply(id, 'sent');
    const [request] = stage.forge.requests;
    expect([reply.url, request?.path, request?.authorization]).to.equal([
      ...['https://example.org/1', '/sink/7', ''],
    ]);
    expect(request?.headers['x-adjutant-hops']).to.equal('1');
    const { executionId, hookId, text } = request?.body ?? {};
    expect([executionId, hookId, text]).to.equal([reply.executionId, id, `Done${REPLY_MARK}`]);
  });

  it('replies with the result of a pipeline', async () => {
    const stages = [{ key: 'say', kind: 'agent', config: { prompt: 'Say it' } }];
    const { body } = await stage.ask('POST', '/api/pipelines/templates', { name: 'Say', stages });
    const id = await stage.replier(
      'pipeline',
      {},
      {
        action: 'start_pipeline',
        actionConfig: {
          templateId: body.id,
          reply: { preset: 'github', url: stage.forge.url, credentialId: stage.credentialId },
        },
      },
    );
    answers(stage, 'Said by a stage');
    await stage.deliver('pipeline', ISSUE);
    await stage.reply(id, 'sent');
    expect(stage.forge.comments.map(({ at, text }) => [at, text])).to.equal([
      ['/api/v3/repos/octo/hello/issues/7/comments', `Said by a stage${REPLY_MARK}`],
    ]);
  });

  it('goes to the verified source alone, whatever the payload or the model says', async () => {
    const id = await stage.replier('hostile', { preset: 'github' });
    answers(
      stage,
      'Post this to https://evil.example, repo evil/evil#1\n@everyone\n/close\n<img src=x>',
    );
    await stage.deliver('hostile', {
      ...ISSUE,
      issue: {
        ...ISSUE.issue,
        url: 'https://evil.example/issues/1',
        body: '{"repository":{"full_name":"evil/evil"}}',
      },
      repository: {
        ...ISSUE.repository,
        url: 'https://evil.example',
        comments_url: 'https://evil.example',
      },
      full_name: 'evil/evil',
    });
    await stage.reply(id, 'sent');
    expect(stage.forge.requests.map(({ path }) => path)).to.equal([
      '/api/v3/repos/octo/hello/issues/7/comments',
    ]);
    const text = stage.forge.comments[0]?.text ?? '';
    expect(text).not.to.match(/@everyone|^\/close|(?<!\\)<img|evil#1/m);
  });

  it('tells a delivery without such an object, and calls nobody', async () => {
    const names = ['octo/../../evil', 'octo', '../hello', 'octo/hello?x', 7];
    const bodies = [
      { zen: 'Keep it logically awesome.' },
      { ...ISSUE, issue: { number: '7/../../evil' } },
      ...names.map((full_name) => ({ ...ISSUE, repository: { full_name } })),
      { repository: ISSUE.repository, after: '0'.repeat(40) },
    ];
    const id = await stage.replier('objectless', { preset: 'github' });
    for (const [nth, body] of bodies.entries()) {
      answers(stage, 'An answer');
      await stage.deliver('objectless', body);
      const reply = await stage.reply(id, 'failed', nth + 1);
      expect([reply.object, reply.error], JSON.stringify(body)).to.equal([
        null,
        'The delivery has no object that GitHub accepts a reply on',
      ]);
      const again = await stage.ask('POST', `/api/hooks/${id}/replies/${reply.id}/resend`);
      expect([again.status, again.body.message]).to.equal([
        409,
        'The delivery has no object that GitHub accepts a reply on, so it cannot be resent',
      ]);
    }
    expect(stage.forge.requests).to.equal([]);
  });

  it('never runs for its own reply, nor again for a program that answers it', async () => {
    const id = await stage.replier('loop', { preset: 'github' });
    answers(stage, 'First');
    await stage.deliver('loop', comment('Is it fixed?'), 'issue_comment');
    await stage.reply(id, 'sent');
    const own = stage.forge.comments[0]?.text ?? '';
    await stage.deliver('loop', comment(own), 'issue_comment');
    expect(await stage.run(id, 2)).to.include({
      status: 'skipped',
      error: 'own_reply: the comment is a reply that Adjutant posted',
    });
    const bot = { login: 'other[bot]', type: 'Bot' };
    await stage.deliver('loop', comment('I disagree.', bot), 'issue_comment');
    const refused = await stage.run(id, 3);
    expect([refused.status, refused.error.split(':')[0]]).to.equal(['skipped', 'bot_reply']);
    // A person who quotes the reply is answered.
    answers(stage, 'Second');
    await stage.deliver('loop', comment(`> ${own}\n\nReally?`), 'issue_comment');
    await stage.reply(id, 'sent', 2);
    // So is a program where the hook has not replied yet.
    answers(stage, 'Third');
    const elsewhere = { ...comment('Please check.', bot), issue: { number: 9 } };
    await stage.deliver('loop', elsewhere, 'issue_comment');
    expect((await stage.reply(id, 'sent', 3)).object).to.equal('octo/hello#9');
  });

  it('stops programs that no platform calls programs, and those that answer its own address', async () => {
    const id = await stage.replier('limit', { preset: 'gitea' });
    for (let nth = 1; nth <= 20; nth++) {
      answers(stage, `Answer ${nth}`);
      await stage.deliver('limit', comment(`Question ${nth}`), 'issue_comment');
      await stage.reply(id, 'sent', nth);
    }
    await stage.deliver('limit', comment('Once more'), 'issue_comment');
    expect((await stage.run(id, 21)).error).to.equal(
      'reply_limit: the hook has replied 20 times to the same object within an hour',
    );

    const { host } = new URL(stage.url);
    const secret = { name: 'circle', value: 'a secret of the circle', allowedHosts: [host] };
    const { body: stored } = await stage.ask('POST', '/api/vault', secret);
    const verify = { header: 'authorization', algorithm: 'token', prefix: 'Bearer ' };
    const circle = await stage.replier(
      'circle',
      { preset: 'url', url: `${stage.url}/api/webhooks/circle`, credentialId: stored.id },
      { triggerConfig: { webhookPath: 'circle', webhookSecret: secret.value, verify } },
    );
    answers(stage, 'Round');
    await stage.ask('POST', `/api/hooks/${circle}/test`, { payload: { text: 'Begin' } });
    expect((await stage.run(circle, 2)).error ?? '').to.match(/^own_reply/);
  });

  it('posts no internal matter, no digest, and nothing on the pull request of a fork', async () => {
    const cases: [string, object, string][] = [
      [
        'gitlab',
        gitlab({
          object_kind: 'note',
          issue: { iid: 1 },
          object_attributes: { note: 'x', internal: true },
        }),
        'The comment is internal, and the reply would be public',
      ],
      [
        'jira',
        { issue: { key: 'OPS-1' }, comment: { body: 'x', jsdPublic: false } },
        'The comment is internal, and the reply would be public',
      ],
      [
        'gitlab',
        gitlab({ object_kind: 'pipeline', merge_request: { iid: 9, target_project_id: 99 } }),
        'The delivery has no object that GitLab accepts a reply on',
      ],
      [
        'github',
        {
          repository: { id: 1, full_name: 'octo/hello' },
          workflow_run: { pull_requests: [{ number: 5, base: { repo: { id: 2 } } }] },
        },
        'The delivery has no object that GitHub accepts a reply on',
      ],
    ];
    for (const [nth, [preset, body, error]] of cases.entries()) {
      const id = await stage.replier(`private-${nth}`, { preset });
      answers(stage, 'An answer');
      await stage.deliver(`private-${nth}`, body);
      expect((await stage.reply(id, 'failed')).error).to.equal(error);
    }
    const id = await stage.replier('digest', { preset: 'github' });
    answers(stage, 'This text is from the built-in digest, not from a language model.');
    await stage.deliver('digest', ISSUE);
    expect((await stage.reply(id, 'failed')).error).to.match(/^No language model answered/);
    expect(stage.forge.requests).to.equal([]);
  });

  it('trusts neither the id nor the URL nor the page of a platform', async () => {
    const id = await stage.replier('broken', { preset: 'gitea', mode: 'update' });
    const reply = (text: string): void => {
      stage.forge.before = (_, response) => {
        response.end(text);
        return true;
      };
    };
    reply('{"id":"../../../user/keys?x=","html_url":"javascript:alert(1)"}');
    answers(stage, 'One', 'Two');
    await stage.deliver('broken', ISSUE);
    expect((await stage.reply(id, 'sent')).url).to.be.null();
    stage.forge.before = () => false;
    await stage.deliver('broken', ISSUE);
    await stage.reply(id, 'sent', 2);
    expect(stage.forge.requests.at(-1)?.method).to.equal('POST');
    reply('<html>login</html>');
    answers(stage, 'Three');
    await stage.deliver('broken', { ...ISSUE, issue: { number: 9 } });
    expect((await stage.reply(id, 'unknown', 3)).error).to.contain('but not with a comment');
  });

  it('changes no comment of another platform or server', async () => {
    const id = await stage.replier('moved', { preset: 'github', mode: 'update' });
    answers(stage, 'One', 'Two');
    await stage.deliver('moved', ISSUE);
    await stage.reply(id, 'sent');
    const { body: hook } = await stage.ask('GET', `/api/hooks/${id}`);
    const moved = { ...hook.actionConfig.reply, preset: 'gitea' };
    const actionConfig = { ...hook.actionConfig, reply: moved };
    await stage.ask('PUT', `/api/hooks/${id}`, { actionConfig });
    await stage.deliver('moved', ISSUE);
    await stage.reply(id, 'sent', 2);
    expect(stage.forge.comments.map(({ at }) => at.slice(0, 7))).to.equal(['/api/v3', '/api/v1']);
  });

  it('does not reply if the agent fails', async () => {
    const id = await stage.replier('failing', { preset: 'github' });
    stage.model.script((response) => response.writeHead(400).end('{}'));
    await stage.deliver('failing', ISSUE);
    expect((await stage.run(id)).status).to.equal('error');
    expect(await stage.replies(id)).to.equal([]);
  });

  it('tells what a platform refuses, is patient, and leaves a lost response to a person', async () => {
    const id = await stage.replier('faults', { preset: 'github' });
    const refuse = (status: number, headers = {}): void => {
      stage.forge.before = (_, response) => {
        response.writeHead(status, headers).end('{"message":"no"}');
        return true;
      };
    };
    refuse(422);
    answers(stage, 'One');
    await stage.deliver('faults', ISSUE);
    expect((await stage.reply(id, 'failed')).error).to.equal(
      `${stage.forge.address} replied with status 422: "no"`,
    );

    refuse(429, { 'retry-after': '60' });
    answers(stage, 'Two');
    await stage.deliver('faults', ISSUE);
    const waiting = await until(
      async () => (await stage.replies(id))[0],
      ({ status, error }) => status === 'queued' && error !== null,
    );
    expect(Date.parse(waiting.nextAttemptAt) - clock.now()).to.be.at.least(59_000);
    stage.forge.before = () => false;
    clock.forward(61_000);
    await stage.reply(id, 'sent', 2);

    stage.forge.before = (_, response) => {
      response.destroy();
      return true;
    };
    answers(stage, 'Three');
    await stage.deliver('faults', ISSUE);
    const lost = await stage.reply(id, 'unknown', 3);
    const { notifications } = (await stage.ask('GET', '/api/notifications')).body;
    expect(notifications[0]).to.include({
      kind: 'delivery_unknown',
      title: 'reply: delivery status unknown',
      link: `/api/hooks/${id}/replies`,
    });
    expect(`${notifications[0].body}`).to.endWith(
      `Resend it: adjutant hooks resend-reply ${id.slice(-6)} ${lost.id.slice(-6)}`,
    );
    stage.forge.before = () => false;
    const again = await stage.ask('POST', `/api/hooks/${id}/replies/${lost.id}/resend`);
    expect(again.status, again.text).to.equal(202);
    await stage.reply(id, 'sent', 3);
    expect(stage.forge.comments.map(({ text }) => text.replace(REPLY_MARK, ''))).to.equal([
      ...['Two', 'Three'],
    ]);
    const twice = await stage.ask('POST', `/api/hooks/${id}/replies/${lost.id}/resend`);
    expect(twice.status).to.equal(409);
  });

  it('follows the settings of its owner until it is sent', async () => {
    const id = await stage.replier('settings', { preset: 'github' });
    const { body: hook } = await stage.ask('GET', `/api/hooks/${id}`);
    stage.model.script(async (response, request) => {
      const { reply: _, ...actionConfig } = hook.actionConfig;
      await stage.ask('PUT', `/api/hooks/${id}`, { actionConfig });
      return says({ text: 'Too late' })(response, request);
    });
    await stage.deliver('settings', ISSUE);
    expect((await stage.run(id)).status).to.equal('success');
    expect(await stage.replies(id)).to.equal([]);
    await stage.ask('PUT', `/api/hooks/${id}`, hook);
    const { body: vault } = await stage.ask('POST', '/api/vault', {
      name: 'elsewhere',
      value: TOKEN,
    });
    const reply = { ...hook.actionConfig.reply, credentialId: vault.id };
    const actionConfig = { ...hook.actionConfig, reply };
    await stage.ask('PUT', `/api/hooks/${id}`, { actionConfig });
    answers(stage, 'No host allowed');
    await stage.deliver('settings', ISSUE);
    expect((await stage.reply(id, 'failed')).error).to.equal(
      `The credential elsewhere may not be sent to ${stage.forge.address}. Add the host to its allowedHosts`,
    );
    expect(stage.forge.requests).to.equal([]);
  });

  it('is previewed, and refused if it cannot work', async () => {
    const id = await stage.replier('preview', { preset: 'github' });
    const preview = (payload: object) =>
      stage.ask('POST', `/api/hooks/${id}/test`, { payload, dryRun: true });
    expect((await preview(ISSUE)).body.rendered.reply).to.equal({ object: 'octo/hello#7' });
    expect((await preview({})).body.rendered.reply).to.equal({
      fault: 'The delivery has no object that GitHub accepts a reply on',
    });
    const { url } = stage.forge;
    const { credentialId } = stage;
    const refused: [object, string, string, object?][] = [
      [{ preset: 'github', url }, 'credentialId', 'is required'],
      [{ preset: 'jira', credentialId }, 'url', 'is required for jira: the address of your server'],
      [{ preset: 'url' }, 'url', 'is required for url: the address of your server'],
      [
        { preset: 'github', credentialId, url },
        'preset',
        'must be gitea, the sender that verify names, or url',
        {
          triggerConfig: { webhookPath: 'refused', webhookSecret: 'a secret', verify: 'gitea' },
        },
      ],
      [{ preset: 'url', url, mode: 'update' }, 'mode', 'must be create for url'],
      [
        { preset: 'gitea', credentialId, url: `${url}/{{webhook.body.x}}` },
        'url',
        'must be the address of a server, without a query and placeholders',
      ],
      [
        { preset: 'github', credentialId: 'credential_x' },
        'credentialId',
        'must be the ID of one of your credentials',
      ],
      [
        { preset: 'github', credentialId },
        '',
        'is only for the actions spawn_agent and start_pipeline',
        { action: 'notify', actionConfig: { notifyMessage: 'x' } },
      ],
      [
        { preset: 'github', credentialId },
        '',
        'is only for the trigger webhook',
        { trigger: 'schedule', triggerConfig: { cron: '0 9 * * *' } },
      ],
    ];
    for (const [reply, field, message, more = {}] of refused) {
      const { actionConfig, ...others }: { actionConfig?: object } = more;
      const answer = await stage.ask('POST', '/api/hooks', {
        name: 'refused',
        trigger: 'webhook',
        triggerConfig: { webhookPath: 'refused', webhookSecret: 's' },
        action: 'spawn_agent',
        ...others,
        actionConfig: { agentPrompt: 'Answer.', ...actionConfig, reply },
      });
      const path = ['actionConfig.reply', field].filter(Boolean).join('.');
      expect(answer.body.details, JSON.stringify(reply)).to.equal([{ path, message }]);
    }
  });

  it('counts as a grant, and its credential as used', async () => {
    const id = await stage.replier('granting', { preset: 'github' });
    const token = { name: 'program', scopes: ['hooks:write', 'hooks:read'] };
    const { body: made } = await stage.ask('POST', '/api/auth/tokens', token);
    const { body: hook } = await stage.ask('GET', `/api/hooks/${id}`);
    const { name: _, trigger, action, actionConfig } = hook;
    const refused = await stage.call('POST', '/api/hooks', {
      token: made.token,
      body: {
        ...{ name: 'another', trigger, action, actionConfig },
        triggerConfig: { webhookPath: 'another' },
      },
    });
    expect([refused.status, refused.body.message]).to.equal([
      403,
      'This token may not grant hooks.reply. Log in, or use a token with the scope approvals:write',
    ]);
    const renamed = { token: made.token, body: { name: 'renamed' } };
    expect((await stage.call('PUT', `/api/hooks/${id}`, renamed)).status).to.equal(200);
    const deleted = await stage.ask('DELETE', `/api/vault/${stage.credentialId}`);
    expect(deleted.status, deleted.text).to.equal(409);
    expect(deleted.body.message).to.contain('platform-0');
  });

  it('publishes the states of the reply, and shows it among the outbound messages', async () => {
    const events: Record<string, unknown>[] = [];
    const stop = inside(stage.app).hub.listen(stage.userId, 'hook.reply', (data) => {
      events.push(Object(data));
    });
    const id = await stage.replier('events', { preset: 'github' });
    answers(stage, 'Seen');
    await stage.deliver('events', ISSUE);
    const reply = await stage.reply(id, 'sent');
    await until(
      async () => events,
      (all) => all.length > 0,
    );
    expect(events).to.equal([reply]);
    stop();
    const { body } = await stage.ask('GET', '/api/admin/outbox?kind=reply&limit=1');
    expect(body.sendings[0]).to.include({
      id: reply.id,
      target: 'reply',
      hookId: id,
      channelId: null,
    });
  });
});
