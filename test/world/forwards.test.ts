import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type Desk, onPath, openDesk, SECRET } from '../harness/hooks.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

let target: Target;
let desk: Desk;
before(async () => {
  target = await openTarget();
  desk = await openDesk({ config: { egressAllow: [target.address] } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});
beforeEach(() => {
  target.received = [];
  target.answer = (response) => response.end('fine');
});

/** Delivers a body to a hook that forwards to a templated address. Resolves to its execution. */
const forwarded = async (path: string, address: string, body: string, more: object = {}) => {
  const actionConfig = { webhookUrl: `${target.url}${address}`, ...more };
  const id = await desk.hook({ ...onPath(path), action: 'webhook', actionConfig });
  expect((await desk.deliver(path, body)).status).to.equal(202);
  return (await desk.ended(id))[0];
};

describe('the address of a forward', () => {
  it('takes values in its path and query, each escaped and with all its digits', async () => {
    const body = '{"id":8202522731445525542,"name":"a/b ?&#é","n":1.10}';
    const address =
      '/orders/{{ webhook.body.id }}/{{webhook.body.name}}?n={{webhook.body.n}}&q={{webhook.body.name}}';
    expect((await forwarded('address', address, body)).status).to.equal('success');
    const escaped = 'a%2Fb%20%3F%26%23%C3%A9';
    expect(target.received.map(({ path }) => path)).to.equal([
      `/orders/8202522731445525542/${escaped}?n=1.10&q=${escaped}`,
    ]);
  });

  it('is refused in an execution whose value is missing, or leads out of the path', async () => {
    const missing =
      '{{webhook.body.id}} in the URL has no value. Correct the placeholder in the hook, or send the value with the delivery';
    const cases: [string, string, string][] = [
      ['gone', '{"n":1}', missing],
      ['null', '{"id":null}', missing],
      ['empty', '{"id":""}', missing],
      ['half', '{"id":"\\ud83d"}', missing],
      ['up', '{"id":".."}', 'A value in the URL contains "..", which would leave the path'],
      ['dot', '{"id":"."}', 'A value in the URL contains "..", which would leave the path'],
      [
        'long',
        JSON.stringify({ id: 'x'.repeat(2001) }),
        '{{webhook.body.id}} in the URL is too long',
      ],
    ];
    for (const [name, body, error] of cases) {
      const run = await forwarded(`address-${name}`, '/orders/{{webhook.body.id}}/lines', body);
      expect([name, run.status, run.error]).to.equal([name, 'error', error]);
    }
    expect(target.received).to.equal([]);
  });

  it('may hold no placeholder in its scheme, host or port, and is an address', async () => {
    const urls = [
      'https://{{webhook.body.host}}/orders',
      'https://example.org:{{webhook.body.port}}/',
      '{{webhook.body.url}}',
      'https://example.org{{webhook.body.path}}',
      'https://user:{{webhook.body.x}}@example.org/',
      'ftp://example.org/{{webhook.body.id}}',
      'https://example.org/a b',
    ];
    for (const webhookUrl of urls) {
      const hook = { ...{ name: 'x', trigger: 'webhook', ...onPath('x') }, action: 'webhook' };
      const reply = await desk.ask('POST', '/api/hooks', { ...hook, actionConfig: { webhookUrl } });
      expect([webhookUrl, reply.status]).to.equal([webhookUrl, 400]);
      expect(reply.body.details[0].path).to.equal('actionConfig.webhookUrl');
    }
  });
});

describe('the digits of a forward', () => {
  const SENT = '{"id":9007199254740993,"price":1.10,"next":9007199254740992}';

  it('are those of the payload, with a body of its own and without', async () => {
    await forwarded('digits-own', '/own', SENT, { webhookBody: '{"order":{{webhook.body}}}' });
    await forwarded('digits-as-it-came', '/as-it-came', SENT);
    expect(target.received.map(({ body }) => body)).to.equal([`{"order":${SENT}}`, SENT]);
  });

  it('go on from a reply to the next stages of a pipeline', async () => {
    target.answer = (response, nth) => {
      response.setHeader('content-type', 'application/json').end(nth === 1 ? SENT : '{}');
    };
    const output = '{{stages.order.output.body';
    const stages = [
      { key: 'order', kind: 'http', config: { method: 'GET', url: `${target.url}/order` } },
      {
        ...{ key: 'again', kind: 'http', needs: ['order'], allowUntrusted: true },
        when: [
          { field: 'stages.order.output.body.id', operator: 'equals', value: '9007199254740993' },
        ],
        config: {
          method: 'POST',
          url: `${target.url}/orders/${output}.id}}`,
          body: { id: `${output}.id}}`, all: `${output}}}`, text: `costs ${output}.price}}` },
        },
      },
    ];
    const template = await desk.ask('POST', '/api/pipelines/templates', { name: 'digits', stages });
    expect(template.status, template.text).to.equal(201);
    const run = await desk.ask('POST', '/api/pipelines', { templateId: template.body.id });
    expect(run.status, run.text).to.equal(201);
    const ended = await until(
      async () => (await desk.ask('GET', `/api/pipelines/${run.body.id}`)).body,
      ({ finishedAt }) => finishedAt !== null,
    );
    expect(ended.status, JSON.stringify(ended)).to.equal('completed');
    const [, { path = '', body = '' } = {}] = target.received;
    expect([path, body]).to.equal([
      '/orders/9007199254740993',
      `{"id":9007199254740993,"all":${SENT},"text":"costs 1.10"}`,
    ]);
  });
});

describe('the body of a forward that is no JSON', () => {
  const note =
    'The body is not valid JSON with the values of this execution. Correct actionConfig.webhookBody, or set another Content-Type in actionConfig.webhookHeaders';
  const webhookBody = '{"t":{{webhook.body.t}},"n":"{{webhook.body.n}}"}';

  it('is sent with a note, in the error too', async () => {
    const text = await forwarded('body-text', '/', '{"n":1}', { webhookBody });
    const missing = ['webhook.body.t'];
    expect(text.result).to.equal({ status: 200, body: 'fine', unfilled: missing, note });
    const unfilled = await forwarded('body-gone', '/', '{"t":1}', { webhookBody });
    expect(unfilled.result).to.equal({ status: 200, body: 'fine', unfilled: ['webhook.body.n'] });
    const fits = await forwarded('body-fits', '/', '{"t":1,"n":2}', { webhookBody });
    expect(fits.result).to.equal({ status: 200, body: 'fine' });
    target.answer = (response) => response.writeHead(400).end();
    const refused = await forwarded('body-refused', '/', '{"n":1}', { webhookBody });
    expect(refused.error).to.equal(`The target replied with status 400. ${note}`);
    const sent = target.received.map(({ body }) => body);
    expect(sent[0]).to.equal('{"t":{{webhook.body.t}},"n":"1"}');
  });

  it('is shown by a dry run, and not noted in another format', async () => {
    const dry = async (more: object) => {
      const actionConfig = { webhookUrl: target.url, ...more };
      const id = await desk.hook({ ...onPath('body-dry'), action: 'webhook', actionConfig });
      const trial = { payload: { n: 1 }, dryRun: true };
      return (await desk.ask('POST', `/api/hooks/${id}/test`, trial)).body.rendered.note;
    };
    const plain = { 'Content-Type': 'text/plain' };
    expect(await dry({ webhookBody })).to.equal(note);
    expect(await dry({ webhookBody, webhookHeaders: plain })).to.be.undefined();
    expect(await dry({ webhookBody, webhookMethod: 'GET' })).to.be.undefined();
  });

  it('is refused when it is saved, if no value could make it JSON', async () => {
    const save = (body: string, more: object = {}) => {
      const actionConfig = { webhookUrl: target.url, webhookBody: body, ...more };
      const hook = { name: 'x', trigger: 'webhook', ...onPath('body'), action: 'webhook' };
      return desk.ask('POST', '/api/hooks', { ...hook, actionConfig });
    };
    for (const body of ['{"t":"{{webhook.body.t}}",}', '[1', "{'a':1}"]) {
      const reply = await save(body);
      expect([body, reply.status, reply.body.details]).to.equal([
        body,
        400,
        [
          {
            path: 'actionConfig.webhookBody',
            message:
              'must be valid JSON when its placeholders are filled. For another format, set Content-Type in webhookHeaders',
          },
        ],
      ]);
    }
    const kept = ['{{webhook.body}}', 'Got {{webhook.body.t}}', '{{{webhook.body.t}}}'];
    kept.push('{"a":-{{webhook.body.t}}}', '{"a":1{{webhook.body.t}}}', '{ "a": [{{event}}] }');
    for (const body of kept) expect([body, (await save(body)).status]).to.equal([body, 201]);
    const plain = { webhookHeaders: { 'content-type': 'text/plain' } };
    expect((await save('[1', plain)).status).to.equal(201);
  });
});

describe('a forward without a body of its own', () => {
  const FORM = 'application/x-www-form-urlencoded';
  const XML = '<?xml version="1.0"?><a>é</a>';
  const NESTED = '{"zen":"Short","hook":{"id":1.10}}';

  it('has the body and the content type of the delivery', async () => {
    const cases: [string, string, string, string, object?][] = [
      ['application/xml', XML, 'application/xml; charset=utf-8', XML],
      ['text/plain', 'é', 'text/plain; charset=utf-8', 'é'],
      [
        'application/cloudevents+json; charset=utf-8',
        '{"n":1.10}',
        'application/cloudevents+json',
        '{"n":1.10}',
      ],
      [`${FORM}; charset=utf-8`, 'b=1+%26&a=%C3%A9&b=2', FORM, 'b=1+%26&b=2&a=%C3%A9'],
      [FORM, `payload=${encodeURIComponent(NESTED)}`, 'application/json', NESTED],
      [FORM, 'a=1', 'application/json', '{"a":"1"}', { 'Content-Type': 'application/json' }],
    ];
    for (const [at, [type, body, sentType, sent, webhookHeaders]] of cases.entries()) {
      const verify = { header: 'X-Hub-Signature-256', prefix: 'sha256=' };
      const id = await desk.hook({
        triggerConfig: { webhookPath: `as-is-${at}`, webhookSecret: SECRET, verify },
        action: 'webhook',
        actionConfig: { webhookUrl: target.url, webhookHeaders },
      });
      expect((await desk.deliver(`as-is-${at}`, body, { type })).status).to.equal(202);
      await desk.ended(id);
      const received = target.received.at(-1);
      expect([received?.headers['content-type'], received?.body]).to.equal([sentType, sent]);
    }
  });
});

describe('the values in the body of a forward', () => {
  const sent = async (path: string, payload: object, webhookBody: string, type?: string) => {
    const webhookHeaders = type === undefined ? {} : { 'Content-Type': type };
    await forwarded(path, '/', JSON.stringify(payload), { webhookBody, webhookHeaders });
    return target.received.at(-1)?.body;
  };

  it('add no member to JSON, no field to a form and no element to XML', async () => {
    const json = '{"id":{{webhook.body.id}},"role":"user"}';
    expect(await sent('in-json', { id: '1,"role":"admin"' }, json)).to.equal(
      '{"id":"1,\\"role\\":\\"admin\\"","role":"user"}',
    );
    expect(await sent('in-json-2', { id: { n: 1 } }, json)).to.equal(
      '{"id":{"n":1},"role":"user"}',
    );
    const form = 'id={{webhook.body.id}}&role=user';
    const formType = 'application/x-www-form-urlencoded';
    expect(await sent('in-form', { id: '50% ü&role=admin' }, form, formType)).to.equal(
      'id=50%25+%C3%BC%26role%3Dadmin&role=user',
    );
    const xml = '<r a="{{webhook.body.id}}">{{webhook.body.id}}</r>';
    expect(await sent('in-xml', { id: '"><b>&' }, xml, 'application/xml')).to.equal(
      '<r a="&quot;&gt;&lt;b&gt;&amp;">&quot;&gt;&lt;b&gt;&amp;</r>',
    );
    expect(await sent('whole', { id: 'a=1&b=2' }, '{{webhook.body.id}}', formType)).to.equal(
      'a=1&b=2',
    );
  });
});

describe('a forward whose target redirects', () => {
  it('is an error where the body would be dropped, and goes on where it is kept', async () => {
    const redirect = async (status: number) => {
      target.answer = (response, count) =>
        count === 1 ? response.writeHead(status, { location: '/moved' }).end() : response.end('ok');
      target.received = [];
      const run = await forwarded(`moved-${status}`, '/', '{"n":1}');
      return [run.status, ...target.received.map(({ method, body }) => `${method} ${body}`)];
    };
    for (const status of [301, 302, 303]) {
      expect(await redirect(status)).to.equal(['error', 'POST {"n":1}']);
    }
    expect(await redirect(307)).to.equal(['success', 'POST {"n":1}', 'POST {"n":1}']);
  });
});

describe('a notification with a name that has no value', () => {
  it('says so on its execution, in whatever way it is run', async () => {
    const actionConfig = { notifyMessage: '{{webhook.body.a}} {{webhook.body.b}} {{webhok.a}}' };
    const conditions = [{ field: 'webhook.body.a', operator: 'exists' }];
    const plain = await desk.hook({ ...onPath('unfilled'), actionConfig });
    const queued = await desk.hook({ ...onPath('unfilled'), actionConfig, conditions });
    await desk.deliver('unfilled', '{"a":1}');
    for (const id of [plain, queued]) {
      expect((await desk.ended(id))[0].result).to.equal({
        message: '1 {{webhook.body.b}} {{webhok.a}}',
        unfilled: ['webhook.body.b', 'webhok.a'],
      });
    }
  });
});
