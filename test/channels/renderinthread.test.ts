import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { renderInThread } from '../../src/channels/renderinthread.js';
import { outboundPlatforms } from '../../src/providers/chat/platforms.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('renderApart', () => {
  for (const platform of outboundPlatforms) {
    it(`renders a long text as ${platform.kind} does`, async () => {
      const text = '**a** [b](https://c.example) `d`\n\n'.repeat(300);
      const message = { title: 'A report', text, isMarkdown: true };
      const parts = await renderInThread(platform, message);
      expect(parts).to.equal(structuredClone(platform.render(message)));
    });
  }

  it('renders Markdown that takes long', async () => {
    const [platform] = outboundPlatforms.filter(({ kind }) => kind === 'telegram');
    const text = '*a* '.repeat(25_000);
    const parts = await renderInThread(platform!, { title: null, text, isMarkdown: true });
    expect(parts.length).to.be.above(10);
  });

  it('fails as the thread does', async () => {
    const unknown = { ...outboundPlatforms[0]!, kind: 'pigeon' as 'telegram' };
    const message = { title: null, text: 'a '.repeat(1_001) };
    await expect(renderInThread(unknown, message)).to.reject(/kind pigeon/);
  });
});
