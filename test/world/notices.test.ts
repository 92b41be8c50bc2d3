import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openPlatforms } from '../channels/receivers/desk.js';
import { sign } from '../harness/app.js';
import { linkChannel } from '../harness/channel.js';
import { notice, onPath, SECRET } from '../harness/hooks.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { ADA } from '../harness/telegram.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const TITLE = '{{webhook.body.title}}';

const kindsOf = (entities: unknown): unknown[] =>
  Array.isArray(entities) ? entities.map(({ type }) => type) : [];

describe('text of a payload in a notification', () => {
  const desk = openForSuite(lab, openPlatforms);
  beforeEach(async () => {
    await desk.anew();
    await linkChannel(desk, desk.userId, { kind: 'telegram', ...ADA });
    await desk.inTelegram(1);
    desk.telegram.calls.length = 0;
  });

  /** What reaches Telegram of a notification with this title in its payload. */
  const told = (notifyMessage: string, title: string) =>
    toldBy({ actionConfig: { notifyMessage, notifyOwner: true } }, title);

  const toldBy = async (fields: object, title: string) => {
    desk.telegram.calls.length = 0;
    const hook = notice({ name: 'told', ...onPath('told'), ...fields });
    const made = await desk.ask('POST', '/api/hooks', hook);
    expect(made.status, made.text).to.equal(201);
    const body = JSON.stringify({ title });
    const headers = { 'x-hub-signature-256': sign(SECRET, body) };
    const { status } = await desk.call('POST', '/api/webhooks/told', { body, headers });
    expect(status).to.equal(202);
    const [call] = await desk.inTelegram(1);
    const { text, entities = [] }: Record<string, unknown> = call ?? {};
    const { notifications } = (await desk.ask('GET', '/api/notifications')).body;
    await desk.ask('DELETE', `/api/hooks/${made.body.id}`);
    return { text, entities, inApp: notifications[0].body };
  };

  it('is shown as it is, and is no Markdown', async () => {
    for (const title of ['Fix __init__ and 2*3*4', '# Approved by your admin', '- [x] `a` <b>']) {
      const found = await told('{{webhook.body.title}}', title);
      expect(found.text).to.equal(`told\n${title}`);
      expect(found.inApp).to.equal(title);
    }
  });

  it('leaves the Markdown of the owner as it is', async () => {
    const found = await told('**New:** {{webhook.body.title}}', 'a*b*c');
    expect(found.text).to.equal('told\nNew: a*b*c');
    expect(found.inApp).to.equal('**New:** a*b*c');
  });

  it('stands in code as it is, and cannot end the code', async () => {
    const message = `A \`${TITLE}\` B\n\`\`\`\n${TITLE}\n\`\`\``;
    for (const title of ['feature/my_branch_v2*[x]', '``x` **FAKE** `y``']) {
      const found = await told(message, title);
      expect(found.text).to.equal(`told\nA ${title} B\n${title}`);
      expect(kindsOf(found.entities)).to.equal(['bold', 'code', 'pre']);
      expect(found.inApp).to.equal(message.replaceAll(TITLE, title));
    }
  });

  const sending = (message: string) => ({
    toolId: 'notify',
    toolAction: 'send',
    toolParams: { title: 'told', message },
  });

  it('is no Markdown where a hook runs notify.send', async () => {
    const fields = { action: 'execute_tool', actionConfig: sending(`**New:** ${TITLE}`) };
    const { text, entities, inApp } = await toldBy(fields, 'a*b*c');
    expect([text, inApp]).to.equal(['told\nNew: a*b*c', '**New:** a*b*c']);
    expect(kindsOf(entities)).to.equal(['bold', 'bold']);
  });

  it('is no Markdown where a stage of a pipeline runs notify.send', async () => {
    const item = { kind: 'tool', config: sending('{{item}}'), allowUntrusted: true };
    const stages = [
      { key: 'say', kind: 'tool', config: sending('**New:** {{params.title}}') },
      {
        key: 'each',
        kind: 'foreach',
        needs: ['say'],
        config: { items: ['{{params.title}}'], stage: item },
      },
    ].map((stage) => ({ ...stage, allowUntrusted: true }));
    const parameters = [{ key: 'title', type: 'string' }];
    const template = { name: 'Told', parameters, stages };
    const made = await desk.ask('POST', '/api/pipelines/templates', template);
    expect(made.status, made.text).to.equal(201);
    const actionConfig = { templateId: made.body.id, params: { title: TITLE } };
    const { text, entities } = await toldBy({ action: 'start_pipeline', actionConfig }, 'a*b*c');
    expect([text, kindsOf(entities)]).to.equal(['told\nNew: a*b*c', ['bold', 'bold']]);
    const [, second] = await desk.inTelegram(2);
    expect(second).to.include({ text: 'told\na*b*c' });
  });

  it('is Markdown where an agent wrote it', async () => {
    desk.model.script(says({ text: '**Done**' }));
    const stages = [
      { key: 'ask', kind: 'agent', config: { prompt: 'Sum up' } },
      { key: 'say', kind: 'tool', needs: ['ask'], config: sending('{{stages.ask.output}}') },
    ];
    const made = await desk.ask('POST', '/api/pipelines/templates', { name: 'Sum', stages });
    expect(made.status, made.text).to.equal(201);
    await desk.ask('POST', '/api/pipelines', { templateId: made.body.id });
    const [call] = await desk.inTelegram(1);
    expect(call).to.include({ text: 'told\nDone' });
  });
});
