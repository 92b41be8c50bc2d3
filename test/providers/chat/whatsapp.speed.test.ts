import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ChannelMessage } from '../../../src/providers/chat/platform.js';
import { whatsapp } from '../../../src/providers/chat/whatsapp.js';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  openWhatsapp,
  PHONE_NUMBER_ID,
  VERIFY_TOKEN,
} from '../../harness/whatsapp.js';
import { reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;
const SETTINGS = {
  baseUrl: 'https://graph.facebook.com/v23.0',
  values: { phoneNumberId: PHONE_NUMBER_ID },
  secrets: { appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN, accessToken: ACCESS_TOKEN },
};
const plain = (text: string): ChannelMessage => ({ title: null, text });
const bodies = (message: ChannelMessage) =>
  whatsapp.render(message).map(({ text }) => (text as { body: string }).body);

describe('whatsapp outbound', () => {
  let cloud: Awaited<ReturnType<typeof openWhatsapp>>;
  let reach: ReturnType<typeof reachOf>;

  before(async () => {
    cloud = await openWhatsapp();
    reach = reachOf({ ...SETTINGS, baseUrl: cloud.baseUrl });
  });

  after(async () => {
    await reach.close();
    cloud.close();
  });

  it('puts no mark of its own into an address', () => {
    for (const [text, shown] of [
      ['https://x.example/_a?*b*=~c', 'https://x.example/%5Fa?%2Ab*=%7Ec'],
      ['(http://x.example/__a)', '(http://x.example/%5F%5Fa)'],
      ['see www.x.example/*a', 'see www.x.example/%2Aa'],
      ['x.example/`a b.c', 'x.example/%60a b.c'],
    ] as const) {
      expect(bodies(plain(text))).to.equal([shown]);
    }
    const since = performance.now();
    bodies(plain('a.'.repeat(200_000)));
    bodies(plain('a-'.repeat(200_000)));
    expect(performance.now() - since).to.be.below(5_000);
  });
});
