import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign } from '../harness/app.js';
import { type Desk, onPath, openDesk, SECRET } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ORIGIN = 'https://hooks.example.org';
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const FORM = 'application/x-www-form-urlencoded';

let desk: Desk;
before(async () => {
  desk = await openDesk({ config: { publicUrl: ORIGIN } });
});
after(() => desk.test.stop());

const verified = (path: string, verify: unknown, more: object = {}) =>
  desk.hook({ ...more, triggerConfig: { webhookPath: path, webhookSecret: SECRET, verify } });
const says = (notifyMessage: string) => ({ actionConfig: { notifyMessage } });
const noticeOf = async (id: string): Promise<string> => (await desk.ended(id))[0].result.message;
const newestRefusal = async (id: string) =>
  (await desk.ask('GET', `/api/hooks/${id}/refused`)).body.refused[0];

describe('a byte order mark before a body', () => {
  it('is no part of JSON, of a form, of the JSON in a form, or of a text', async () => {
    const body = Buffer.concat([MARK, Buffer.from('{"a":"hello"}')]);
    const json = await desk.hook({ ...onPath('mark-json'), ...says('says {{webhook.body.a}}') });
    expect((await desk.deliver('mark-json', body)).status).to.equal(202);
    expect(await noticeOf(json)).to.equal('says hello');
    const forms = ['a=hello', `payload=${encodeURIComponent('{"a":"hello"}')}`];
    forms.push(`payload=${encodeURIComponent('\ufeff{"a":"hello"}')}`);
    for (const [at, form] of forms.entries()) {
      const path = `mark-form-${at}`;
      const id = await verified(path, 'github', says('says {{webhook.body.a}}'));
      const marked = Buffer.concat([MARK, Buffer.from(form)]);
      expect((await desk.deliver(path, marked, { type: FORM })).status).to.equal(202);
      expect(await noticeOf(id)).to.equal('says hello');
    }
    const text = await verified('mark-text', { header: 'X-Hub-Signature-256', prefix: 'sha256=' });
    const plain = Buffer.concat([MARK, Buffer.from('hello')]);
    expect((await desk.deliver('mark-text', plain, { type: 'text/plain' })).status).to.equal(202);
    expect((await desk.ended(text))[0].triggerContext.webhook.body).to.equal('hello');
  });

  it('is no part of the handshake of a sender, or of JSON for the API', async () => {
    await verified('mark-slack', 'slack');
    const body = '\ufeff{"type":"url_verification","challenge":"abc"}';
    const at = Math.floor(Date.now() / 1000);
    const mac = createHmac('sha256', SECRET).update(`v0:${at}:${body}`).digest('hex');
    const headers = { 'x-slack-signature': `v0=${mac}`, 'x-slack-request-timestamp': `${at}` };
    const reply = await desk.test.call('POST', '/api/webhooks/mark-slack', { body, headers });
    expect([reply.status, reply.body]).to.equal([200, { challenge: 'abc' }]);
    const task = await desk.ask('POST', '/api/tasks', '\ufeff{"title":"marked"}');
    expect([task.status, task.body.title]).to.equal([201, 'marked']);
  });
});

describe('a greeting of a sender', () => {
  const greetings: [string, string, Record<string, string>, object][] = [
    ['github', 'GitHub', { 'x-github-event': 'ping' }, { zen: 'Short is good.' }],
    ['bitbucket-server', 'Bitbucket Data Center', { 'x-event-key': 'diagnostics:ping' }, {}],
    ['buildkite', 'Buildkite', { 'x-buildkite-event': 'ping' }, { event: 'ping' }],
    ['circleci', 'CircleCI', { 'circleci-event-type': 'ping' }, { type: 'ping', id: '1' }],
    ['pagerduty', 'PagerDuty', {}, { event: { id: '1', event_type: 'pagey.ping' } }],
    ['cal-com', 'Cal.com', {}, { triggerEvent: 'PING', payload: {} }],
  ];
  /** The header of the sender's signature. */
  const signatureOf = (sender: string, body: string): Record<string, string> => {
    const at = Math.floor(Date.now() / 1000);
    const hex = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');
    const headers: Record<string, Record<string, string>> = {
      github: { 'x-hub-signature-256': `sha256=${hex(body)}` },
      'bitbucket-server': { 'x-hub-signature': `sha256=${hex(body)}` },
      buildkite: { 'x-buildkite-signature': `timestamp=${at},signature=${hex(`${at}.${body}`)}` },
      circleci: { 'circleci-signature': `v1=${hex(body)}` },
      pagerduty: { 'x-pagerduty-signature': `v1=${hex(body)}` },
      'cal-com': { 'x-cal-signature-256': hex(body) },
    };
    return headers[sender] ?? {};
  };
  const greet = async (path: string, sender: string, named: object, payload: object) => {
    const body = JSON.stringify(payload);
    const headers = { ...signatureOf(sender, body), ...named };
    return desk.test.call('POST', `/api/webhooks/${path}`, { body, headers });
  };

  for (const [sender, label, named, payload] of greetings) {
    it(`of ${label} is skipped, and no agent runs`, async () => {
      const id = await verified(`greet-${sender}`, sender, {
        action: 'spawn_agent',
        actionConfig: { agentPrompt: 'Triage this issue.' },
      });
      expect((await greet(`greet-${sender}`, sender, named, payload)).status).to.equal(202);
      const [{ status, error, agentId }] = await desk.ended(id);
      const reason = `test event from ${label}`;
      expect({ status, error, agentId }).to.equal({
        ...{ status: 'skipped', error: reason, agentId: null },
      });
    });
  }

  it('of GitHub is skipped by a hook that names no sender, a notification too', async () => {
    const id = await desk.hook({ ...onPath('greet-plain'), ...says('Got it') });
    await desk.deliver('greet-plain', '{}', { headers: { 'x-github-event': 'ping' } });
    expect((await desk.ended(id))[0].status).to.equal('skipped');
  });

  it('is an event for a hook whose conditions name events, and for another sender', async () => {
    const conditions = [{ field: 'event', operator: 'equals', value: 'ping' }];
    const asked = await verified('greet-asked', 'github', { conditions });
    await greet('greet-asked', 'github', { 'x-github-event': 'ping' }, {});
    expect((await desk.ended(asked))[0].status).to.equal('success');
    const other = await desk.hook(onPath('greet-other'));
    await desk.deliver('greet-other', '{}', { headers: { 'x-gitlab-event': 'ping' } });
    expect((await desk.ended(other))[0].status).to.equal('success');
  });
});

describe('numbers of a payload', () => {
  const SENT =
    '{"id":9007199254740993,"next":9007199254740992,"price":1.10,"n":1.0,"neg":-0,"exp":1E3,' +
    '"long":0.1000000000000000055511151231257827,"list":[12345678901234567890]}';

  it('keep their digits in a message', async () => {
    const b = 'webhook.body';
    const notifyMessage = `{{${b}.id}} {{${b}.next}} {{${b}.price}} {{${b}.n}} {{${b}.neg}} {{${b}.exp}} {{${b}.long}} {{${b}.list.0}}`;
    const id = await desk.hook({ ...onPath('digits'), ...says(notifyMessage) });
    expect((await desk.deliver('digits', SENT)).status).to.equal(202);
    expect(await noticeOf(id)).to.equal(
      '9007199254740993 9007199254740992 1.10 1.0 -0 1E3 0.1000000000000000055511151231257827 12345678901234567890',
    );
  });

  it('keep their digits where the whole body or a part of it is written out', async () => {
    const id = await desk.hook({
      ...onPath('digits-whole'),
      ...says('{{webhook.body}} {{webhook.body.list}}'),
    });
    await desk.deliver('digits-whole', SENT);
    expect(await noticeOf(id)).to.equal(`${SENT} [12345678901234567890]`);
  });

  it('keep their digits in a forward and in the arguments of a tool', async () => {
    const forward = await desk.hook({
      action: 'webhook',
      actionConfig: {
        webhookUrl: 'https://example.org/orders',
        webhookBody: '{"id":{{webhook.body.id}},"all":{{webhook.body}}}',
      },
    });
    const dryRun = { payload: 'SENT', dryRun: true };
    const asked = JSON.stringify(dryRun).replace('"SENT"', SENT);
    const shown = await desk.ask('POST', `/api/hooks/${forward}/test`, asked);
    expect(shown.body.rendered.body).to.equal(`{"id":9007199254740993,"all":${SENT}}`);
    const tool = await desk.hook({
      action: 'execute_tool',
      actionConfig: {
        ...{ toolId: 'notify', toolAction: 'send' },
        toolParams: { message: 'Order {{webhook.body.id}}' },
      },
    });
    const args = await desk.ask('POST', `/api/hooks/${tool}/test`, asked);
    expect(args.body.rendered.arguments).to.equal({ message: 'Order 9007199254740993' });
  });

  it('name a delivery and its event with all their digits', async () => {
    const verify = {
      ...{ header: 'X-Hub-Signature-256', prefix: 'sha256=' },
      ...{ idFrom: 'body.id', eventFrom: 'body.kind' },
    };
    const id = await verified('digits-id', verify);
    for (const digit of [2, 3, 2]) {
      await desk.deliver('digits-id', `{"id":820252273144552554${digit},"kind":1.10}`);
    }
    const runs = await desk.ended(id, 2);
    expect(runs.length).to.equal(2);
    expect(runs[0].triggerContext.event).to.equal('1.10');
  });

  it('are compared by their value in conditions', async () => {
    const holds = async (operator: string, value: unknown, body: string): Promise<boolean> => {
      const conditions = [{ field: 'webhook.body.n', operator, value }];
      const id = await desk.hook({ conditions });
      const asked = `{"payload":${body},"dryRun":true}`;
      return (await desk.ask('POST', `/api/hooks/${id}/test`, asked)).body.wouldRun;
    };
    const cases: [string, unknown, string, boolean][] = [
      ['equals', 9007199254740992, '9007199254740993', false],
      ['equals', '9007199254740993', '9007199254740993', true],
      ['not_equals', 9007199254740992, '9007199254740993', true],
      ['gt', 9007199254740992, '9007199254740993', true],
      ['lt', 9007199254740992, '9007199254740991.5', true],
      ['in', [9007199254740992, '9007199254740993'], '9007199254740993', true],
      ['contains', '9007199254740993', '[9007199254740993]', true],
      ['contains', 9007199254740992, '[9007199254740993]', false],
      ['equals', 1, '1.0', true],
      ['equals', 1.1, '1.10', true],
      ['equals', '1.1', '1.1', false],
      ['equals', { a: 1 }, '{"a":1.0}', true],
    ];
    for (const [operator, value, n, wanted] of cases) {
      expect([operator, n, await holds(operator, value, `{"n":${n}}`)]).to.equal([
        ...[operator, n, wanted],
      ]);
    }
  });

  it('are refused by the API where a number cannot hold them, with the name of the field', async () => {
    const hook = JSON.stringify({
      ...{ name: 'big', trigger: 'webhook', ...onPath('big'), ...says('x'), action: 'notify' },
      conditions: [{ field: 'webhook.body.id', operator: 'equals', value: 'BIG' }],
    });
    for (const big of ['9007199254740993', '1e400']) {
      const reply = await desk.ask('POST', '/api/hooks', hook.replace('"BIG"', big));
      expect([reply.status, reply.body.message]).to.equal([
        400,
        `conditions.0.value: the number ${big} has too many digits. Send the number as a string`,
      ]);
    }
    const kept = await desk.ask('POST', '/api/hooks', hook.replace('"BIG"', '9007199254740992'));
    expect(kept.body.conditions[0].value).to.equal(9007199254740992);
    expect((await desk.ask('POST', '/api/hooks', hook.replace('"BIG"', '1.10'))).status).to.equal(
      201,
    );
  });
});

describe('an address that a sender tries', () => {
  it('is confirmed to HEAD and GET, noted, and fires nothing', async () => {
    const id = await desk.hook(onPath('tried'));
    const asked: [string, string][] = [
      ['HEAD', ''],
      ['GET', ''],
      ['GET', '/'],
      ['GET', '?challenge=abc'],
      ['HEAD', '?a=b'],
    ];
    for (const [method, query] of asked) {
      const reply = await desk.test.call(method, `/api/webhooks/tried${query}`);
      expect([method, query, reply.status]).to.equal([method, query, 200]);
    }
    expect(await desk.runs(id)).to.equal([]);
    expect(await newestRefusal(id)).to.include({
      reason: 'tried',
      message:
        'The sender checked the address with HEAD or GET. The reply was 200, and no hook ran',
    });
  });

  it('needs a login where no hook has it, and is an outgoing webhook for its owner', async () => {
    for (const method of ['HEAD', 'GET']) {
      expect((await desk.test.call(method, '/api/webhooks/nowhere')).status).to.equal(401);
    }
    const made = await desk.ask('POST', '/api/webhooks', {
      ...{ name: 'out', url: 'https://example.org/hook', events: ['task.completed'] },
    });
    const path = `/api/webhooks/${made.body.id}`;
    expect((await desk.ask('GET', path)).body.id).to.equal(made.body.id);
    expect((await desk.test.call('GET', path)).status).to.equal(401);
  });
});

describe('a body that cannot be read', () => {
  const OWN = { header: 'X-Hub-Signature-256', prefix: 'sha256=' };
  const cases: [string, string, Buffer, number, string, string][] = [
    [
      ...(['latin1 JSON', 'application/json', Buffer.from('{"t":"\xe9"}', 'latin1'), 400] as const),
      'charset',
      'The body is not valid UTF-8, and its content type declares no charset',
    ],
    [
      ...(['bytes', 'text/plain; charset=utf-8', Buffer.from([0x61, 0xff]), 400] as const),
      'charset',
      'The body is not valid UTF-8 (charset utf-8)',
    ],
    [
      ...(['an unknown charset', 'text/plain; charset=x-none', Buffer.from([0xe9]), 400] as const),
      'charset',
      'The body is not valid UTF-8 (charset x-none)',
    ],
    ['nothing', 'application/json', Buffer.alloc(0), 400, 'empty', 'The body is empty'],
    ['nothing as a form', FORM, Buffer.alloc(0), 400, 'empty', 'The body is empty'],
    [
      ...(['deep JSON', 'application/json', Buffer.from('['.repeat(65)), 400] as const),
      'not_json',
      'The JSON is nested more than 64 levels deep',
    ],
    [
      ...(['a number', 'application/json', Buffer.from('1'), 400] as const),
      'not_json',
      'The JSON must be an object or an array',
    ],
    [
      ...(['no JSON', 'application/json', Buffer.from('a=1'), 400] as const),
      'not_json',
      'The body is not valid JSON',
    ],
    [
      ...(['a key', 'application/json', Buffer.from('{"a":{"__proto__":1}}'), 400] as const),
      'not_json',
      'The JSON must not have a key named __proto__',
    ],
    [
      ...(['a latin1 form', FORM, Buffer.from('t=caf%E9'), 400] as const),
      'charset',
      'The body is not valid UTF-8, and its content type declares no charset',
    ],
  ];
  for (const [name, type, body, status, reason, message] of cases) {
    it(`is refused with its reason: ${name}`, async () => {
      const path = `unread-${name.replaceAll(' ', '-')}`;
      const id = await verified(path, OWN);
      const reply = await desk.deliver(path, body, { type });
      expect([reply.status, reply.body.message]).to.equal([status, message]);
      expect(await newestRefusal(id)).to.include({ reason, message });
    });
  }

  it('is refused with 415 if it is compressed, in whatever way', async () => {
    const id = await verified('packed', OWN);
    for (const encoding of ['gzip', 'br', 'gzip, deflate']) {
      const headers = { 'content-encoding': encoding };
      const reply = await desk.deliver('packed', gzipSync('{"t":1}'), { headers });
      const message = `The body is compressed (Content-Encoding: ${encoding}). Send the body without compression`;
      expect([reply.status, reply.body.message]).to.equal([415, message]);
      expect(await newestRefusal(id)).to.include({ reason: 'content_encoding', message });
    }
    const unpacked = { 'content-encoding': 'gzip', 'x-hub-signature-256': sign(SECRET, '{"t":1}') };
    await desk.deliver('packed', gzipSync('{"t":1}'), { headers: unpacked });
    expect((await newestRefusal(id)).message).to.equal(
      'The header x-hub-signature-256 does not match: the secret is wrong, or the body was signed before compression (gzip)',
    );
  });

  it('is read by its charset, its byte order mark or its XML declaration', async () => {
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
    const texts: [string, Buffer, unknown][] = [
      ['text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1'), 'café'],
      ['application/json; charset="ISO-8859-1"', Buffer.from('{"t":"\xe9"}', 'latin1'), { t: 'é' }],
      ['application/json; charset=iso-8859-1', Buffer.from('{"t":"é"}'), { t: 'é' }],
      ['application/json; charset=unknown', Buffer.from('{"t":"é"}'), { t: 'é' }],
      ['application/json; charset=utf-16-unknown', Buffer.from('{"t":"é"}'), { t: 'é' }],
      ['application/json; charset=utf-16le', Buffer.from('{"t":"é"}', 'utf16le'), { t: 'é' }],
      ['application/json', utf16('{"t":"é"}'), { t: 'é' }],
      ['text/plain', utf16('é'), 'é'],
      ['text/plain; charset=shift_jis', Buffer.from([0x93, 0xfa]), '日'],
      [
        'application/xml',
        Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', 'latin1'),
        '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>',
      ],
      [
        `${FORM}; charset=iso-8859-1`,
        Buffer.from('t=caf%E9+%e9&b=1&t=2'),
        { t: ['café é', '2'], b: '1' },
      ],
      [`${FORM}; charset=iso-8859-1`, Buffer.from('t=caf%C3%A9'), { t: 'café' }],
      [`${FORM}; charset=windows-1251`, Buffer.from([0x74, 0x3d, 0xe9]), { t: 'й' }],
    ];
    for (const [at, [type, body, wanted]] of texts.entries()) {
      const id = await verified(`charset-${at}`, OWN);
      const reply = await desk.deliver(`charset-${at}`, body, { type });
      expect([type, reply.status]).to.equal([type, 202]);
      expect((await desk.ended(id))[0].triggerContext.webhook.body).to.equal(wanted);
    }
  });

  it('keeps a parameter of the query that is not UTF-8 as it was sent', async () => {
    const id = await desk.hook(onPath('latin-query'));
    await desk.deliver('latin-query?t=caf%E9&u=caf%C3%A9', '{}');
    const [{ triggerContext }] = await desk.ended(id);
    expect(triggerContext.webhook.query).to.equal({ t: 'caf%E9', u: 'café' });
  });
});

describe('a content type that a hook does not take', () => {
  const form = 'payload=%7B%22action%22%3A%22opened%22%7D';

  it('is refused with the remedy at the sender and here', async () => {
    const id = await desk.hook({ name: 'issues', ...onPath('typed') });
    const headers = { 'x-github-event': 'issues' };
    const reply = await desk.deliver('typed', form, { type: FORM, headers });
    const message =
      'This hook accepts application/json, but the request has application/x-www-form-urlencoded. Set an accepted content type at GitHub, or run: adjutant hooks update issues --verify github';
    expect([reply.status, reply.body.message]).to.equal([415, message]);
    expect(await newestRefusal(id)).to.include({ reason: 'content_type', message });
  });

  it('is refused with what the sender may send, and by id where the name has spaces', async () => {
    const named = await desk.hook({ name: 'my issues', ...onPath('typed-name') });
    const reply = await desk.deliver('typed-name', form, { type: FORM });
    expect(reply.body.message).to.equal(
      `This hook accepts application/json, but the request has application/x-www-form-urlencoded. Set an accepted content type at the sender (curl: -H 'Content-Type: application/json'), or run: adjutant hooks update ${named} --verify <sender>`,
    );
    await verified('typed-sender', 'github');
    const image = await desk.deliver('typed-sender', 'x', { type: 'image/png' });
    expect(image.body.message).to.equal(
      "This hook accepts application/json, application/x-www-form-urlencoded, but the request has image/png. Set an accepted content type at the sender (curl: -H 'Content-Type: application/json')",
    );
    const invalid = await desk.deliver('typed-name', '{}', { type: 'none' });
    expect([invalid.status, invalid.body.message]).to.equal([
      415,
      "This hook accepts application/json, but the request has an invalid content type. Set an accepted content type at the sender (curl: -H 'Content-Type: application/json')",
    ]);
  });

  it('is JSON under each of its names, or without a name', async () => {
    const id = await desk.hook(onPath('typed-json'));
    const types = ['text/json', 'text/json; charset=utf8', 'application/json, charset=utf-8'];
    types.push('application/x-json', 'application/json charset=utf8', '', ' ');
    for (const [n, type] of [...types, null].entries()) {
      // Of a text, fetch would send the type text/plain.
      const reply = await desk.deliver('typed-json', Buffer.from(`{"n":${n}}`), { type });
      expect([type, reply.status]).to.equal([type, 202]);
    }
    const [newest] = await desk.ended(id, types.length + 1);
    expect(newest.triggerContext.webhook.body).to.equal({ n: types.length });
    const reply = await desk.deliver('typed-json', 'n=1', { type: '' });
    expect([reply.status, reply.body.message]).to.equal([400, 'The body is not valid JSON']);
    expect((await desk.deliver('typed-json', '{}', { type: '', secret: 'x' })).status).to.equal(
      401,
    );
  });
});

describe('a method that no receiver supports', () => {
  it('is refused with those that are, whether or not a hook is there', async () => {
    const id = await desk.hook(onPath('methods'));
    const cases: [string, string, string][] = [
      ['PUT', '/api/webhooks/methods', 'GET, HEAD, POST, PATCH, DELETE'],
      ['OPTIONS', '/api/webhooks/nowhere', 'GET, HEAD, POST, PATCH, DELETE'],
      ['GET', `/api/hooks/incoming/${id}`, 'POST'],
      ['GET', '/api/hooks/incoming/hook_none', 'POST'],
      ['HEAD', `/api/hooks/incoming/${id}`, 'POST'],
      ['PUT', '/api/teamchat-webhook', 'POST'],
      ['DELETE', '/api/messenger-webhook', 'GET, HEAD, POST'],
    ];
    for (const [method, path, allow] of cases) {
      const { status, headers, body } = await desk.test.call(method, path);
      expect([method, path, status, headers.allow]).to.equal([method, path, 405, allow]);
      if (method !== 'HEAD') {
        expect(body.message).to.equal(
          `This address does not support the method ${method}. Send webhooks with POST`,
        );
      }
    }
    expect((await desk.test.call('PUT', '/api/nowhere')).status).to.equal(404);
    expect((await desk.test.call('GET', '/api/pipelines/templates/import')).status).to.equal(401);
  });
});

describe('a signature over another address', () => {
  const OWN = { header: 'X-Sig', signed: '{url}{body}' };
  const mac = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');
  const path = '/api/webhooks/addr';
  let id: string;
  before(async () => {
    id = await verified('addr', OWN);
  });
  const post = async (signed: string, to = path) => {
    const headers = { 'x-sig': mac(`${signed}{}`) };
    const { status } = await desk.test.call('POST', to, { body: '{}', headers });
    return { status, refused: status === 202 ? null : await newestRefusal(id) };
  };

  it('is told with the address that this daemon verifies', async () => {
    expect((await post(`${ORIGIN}${path}`)).status).to.equal(202);
    const others = [`http://hooks.example.org${path}`, `${ORIGIN}:443${path}`, `${ORIGIN}${path}/`];
    others.push(`${desk.test.url}${path}`);
    for (const signed of others) {
      const { status, refused } = await post(signed);
      expect(status).to.equal(401);
      expect(refused).to.include({
        reason: 'address',
        message: `The sender signed the URL ${signed}, but this daemon expects ${ORIGIN}${path}`,
      });
    }
  });

  it('is named before the secret where no known address fits', async () => {
    const { refused } = await post(`https://before.example.org${path}`, `${path}?token=`);
    expect(refused).to.include({
      reason: 'mismatch',
      message: `The header x-sig does not match: the URL or the secret is wrong, or the body was modified in transit. The sender signs the URL; this daemon expects ${ORIGIN}${path}`,
    });
  });
});
