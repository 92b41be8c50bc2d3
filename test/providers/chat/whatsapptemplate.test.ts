import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ChannelMessage } from '../../../src/providers/chat/platform.js';
import { whatsapp } from '../../../src/providers/chat/whatsapp.js';
import { ACCESS_TOKEN, ADA, openWhatsapp, PHONE_NUMBER_ID } from '../../harness/whatsapp.js';
import { reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NUMBERED = {
  name: 'assistant_news',
  language: 'en',
  words: 'Your assistant says: {{1}} Answer to talk to it.',
};
const NAMED = { ...NUMBERED, language: 'pt_BR', parameter: 'news' };
const QUESTION = { approvalId: 'approval_01k9x', digest: '4f2a91c0'.repeat(8) };

describe('a message by the approved template', () => {
  let cloud: Awaited<ReturnType<typeof openWhatsapp>>;
  let reach: ReturnType<typeof reachOf>;
  before(async () => {
    cloud = await openWhatsapp();
    cloud.templates.push(NUMBERED, NAMED);
    reach = reachOf({
      baseUrl: cloud.baseUrl,
      values: { phoneNumberId: PHONE_NUMBER_ID },
      secrets: { accessToken: ACCESS_TOKEN },
    });
  });
  after(async () => {
    await reach.close();
    cloud.close();
  });

  const send = async (message: ChannelMessage, values: Record<string, string>) => {
    const settings = { ...reach.settings, values: { ...reach.settings.values, ...values } };
    const late = whatsapp.late?.(settings);
    if (!late) throw new Error('There is no template');
    return whatsapp.send({ ...reach, settings }, ADA.id, late(message));
  };
  const told = async (message: Partial<ChannelMessage>): Promise<string> => {
    const sent = await send({ title: null, text: '', ...message }, { templateName: NUMBERED.name });
    expect(sent.verdict).to.equal('sent');
    return JSON.parse(JSON.stringify(cloud.sent.at(-1))).template.components[0].parameters[0].text;
  };

  it('is sent in its language, with the text as its parameter', async () => {
    await told({ title: 'Nightly report', text: 'Nothing\n\n\tnew     today' });
    expect(cloud.sent.at(-1)).to.equal({
      ...{ messaging_product: 'whatsapp', recipient_type: 'individual', to: ADA.id },
      type: 'template',
      template: {
        name: 'assistant_news',
        language: { code: 'en' },
        components: [
          {
            type: 'body',
            parameters: [{ type: 'text', text: 'Nightly report \u00b7 Nothing \u00b7 new today' }],
          },
        ],
      },
    });
  });

  it('has a named parameter where the template has one', async () => {
    const values = { templateName: 'assistant_news', templateLanguage: 'pt_BR' };
    const message = { title: null, text: 'hi' };
    expect((await send(message, { ...values, templateParameter: 'news' })).verdict).to.equal(
      'sent',
    );
    expect(await send(message, values)).to.include({
      verdict: 'failed',
      error: 'The WhatsApp template has no parameter with the name in templateParameter (132012)',
    });
    expect(await send(message, { ...values, templateLanguage: 'de' })).to.include({
      verdict: 'failed',
      error: 'WhatsApp has no approved template with that name and language (132001)',
    });
  });

  it('is shortened to what Meta accepts, and says where the whole is', async () => {
    for (const text of ['word\n'.repeat(1000), '\u{1f98a}'.repeat(2000), '*_`~'.repeat(1000)]) {
      const shown = await told({ title: 'Report', text });
      expect(shown.length).to.be.at.most(900);
      expect(shown).to.endWith('\u2026 The whole text is in the app.');
      expect(shown).to.not.match(/\p{Cs}/u);
    }
    expect(await told({ text: ' \n ' })).to.equal('(no text)');
    expect(await told({ text: '*bold*' })).to.equal('*\u2060bold*');
  });

  it('shows a call whole or not at all', async () => {
    const short = await told({
      title: 'May it?',
      text: 'time.now\nOr reply: approve 4f2a91c0',
      question: QUESTION,
    });
    expect(short).to.equal('May it? \u00b7 time.now \u00b7 Or reply: approve 4f2a91c0');
    const text = `${'x'.repeat(2000)}\nOr reply: approve 4f2a91c0`;
    expect(await told({ title: 'May it?', text, question: QUESTION })).to.equal(
      'May it? \u00b7 This call is too long to show here. Read it in the app.',
    );
  });

  it('is none where no template is set', () => {
    expect(whatsapp.late?.(reach.settings)).to.be.null();
  });
});
