import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { call } from '../agents/stage.js';
import { until, untilMatches } from '../harness/app.js';
import { SECRET } from '../harness/hooks.js';
import { dictated, says } from '../harness/openai.js';
import { isLive, type Visitor, WIDTHS } from './stage.js';
import { openTalkStage, type TalkStage } from './talk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const XSS = '<img src=x onerror="document.title=1"><script>alert(1)</script>';

/** Two replies with the maximum number of calls. */
const longWork = () =>
  [0, 32].map((first) =>
    says({
      toolCalls: Array.from({ length: 32 }, (_, nth) => call(`tool_${first + nth}`)),
    }),
  );

describe('the chat of the page', () => {
  let stage: TalkStage;
  let visitor: Visitor;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openTalkStage();
    visitor = await stage.enter('ada');
  });

  after(() => stage?.stop());

  /** A conversation with a reply. */
  const begun = async (text: string, ...answers: string[]): Promise<string> => {
    stage.model.forget();
    stage.model.script(...answers.map((answer) => says({ text: answer })));
    return (await stage.ask('POST', '/api/chat', { message: text })).body.sessionId;
  };
  const userTexts = async (sessionId: string): Promise<string[]> => {
    const { body } = await stage.ask('GET', `/api/sessions/${sessionId}/messages?limit=200`);
    return body.messages.flatMap((message: { role: string; content: string }) =>
      message.role === 'user' ? [message.content] : [],
    );
  };
  const sessionAt = (url: string): string => new URL(url).pathname.split('/').at(-1) ?? '';

  for (const { where, viewport } of WIDTHS) {
    it(
      `begins a conversation and streams the reply, by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await page.setViewportSize(viewport);
        const speaker = dictated();
        stage.model.forget();
        stage.model.script(speaker.reply);
        await open('/chat');
        expect(await violations()).to.equal([]);
        await tabTo('textarea');
        await page.keyboard.type('What failed');
        await page.keyboard.press('Shift+Enter');
        await page.keyboard.type('last night?');
        await press('Enter', 'h1:text("What failed")');
        expect(await userTexts(sessionAt(page.url()))).to.equal(['What failed\nlast night?']);
        await speaker.say('Three builds ');
        await page.waitForSelector('.writes:has-text("Three builds")');
        expect(await violations()).to.equal([]);
        await speaker.say('failed.');
        await speaker.end();
        await page.waitForSelector('[role=log] .assistant:has-text("Three builds failed.")');
        await page.waitForSelector('.speaker .state:text("completed")');
        expect(await page.locator('.writes').count()).to.equal(0);
        expect(await page.locator('.assistant').count()).to.equal(1);
        stage.model.script(says({ text: 'The first and the third.' }));
        // The field keeps the focus.
        await page.keyboard.type('Which?');
        await press('Enter', '.assistant:has-text("The first and the third.")');
        await untilMatches(() => page.inputValue('textarea'), '');
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );
  }

  it(`shows what others write as text${unless}`, withChromium, async () => {
    const { page, open, violations } = visitor;
    const id = await begun(XSS, XSS);
    await open('/chat', '.card');
    expect(await page.textContent('.card strong')).to.equal(XSS.slice(0, 80));
    await open(`/chat/${id}`, '.assistant');
    expect(await page.textContent('.assistant .prose')).to.equal(XSS);
    expect(await page.textContent('.user .prose')).to.equal(XSS);
    expect(await page.locator('main img, main script').count()).to.equal(0);
    expect(await violations()).to.equal([]);
  });

  for (const { where, viewport } of WIDTHS) {
    it(
      `has the approval in the conversation, answered by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await page.setViewportSize(viewport);
        const heard = stage.canary.heard.length;
        const id = await begun('Hello', 'Hi.');
        await open(`/chat/${id}`, '.assistant');
        await isLive(page);
        stage.model.script(
          says({ toolCalls: [stage.post('the body')] }),
          says({ text: 'Posted.' }),
        );
        await tabTo('textarea');
        await page.keyboard.type('Post it');
        await press('Enter', 'section.approval');
        const text = await page.textContent('section.approval');
        expect(text).to.include(stage.canary.url).and.include('the body');
        expect(await violations()).to.equal([]);
        await tabTo('section.approval button.main');
        await page.waitForSelector('section.approval button.main[aria-disabled=false]');
        await press('Enter', '.assistant:has-text("Posted.")');
        expect(stage.canary.heard.slice(heard).map(({ body }) => body)).to.equal(['the body']);
        expect(await page.locator('section.approval').count()).to.equal(0);
        // The focused element shows the decision.
        const focused = 'document.activeElement.closest("main [role=status]")?.textContent ?? ""';
        expect(await page.evaluate(focused)).to.include('approved');
        await tabTo('.tool summary', 'Enter');
        await page.waitForSelector('.tool pre:has-text("thanks")');
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );
  }

  it(`denies with a reason, which the model reads${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    const id = await begun('Hello', 'Hi.');
    await open(`/chat/${id}`);
    const before = stage.canary.heard.length;
    stage.model.script(says({ toolCalls: [stage.post()] }), says({ text: 'Then not.' }));
    await page.fill('textarea', 'Post it');
    await page.keyboard.press('Enter');
    await page.click('section.approval summary');
    await page.fill('section.approval input:not([type])', 'not on a Friday');
    await click('section.approval button:text("Deny")', '.assistant:has-text("Then not.")');
    expect(JSON.stringify(stage.model.asked.at(-1)?.body)).to.include('not on a Friday');
    expect(stage.canary.heard.length).to.equal(before);
  });

  it(`stops the agent while it works${unless}`, withChromium, async () => {
    const { page, open, tabTo } = visitor;
    const id = await begun('Hello', 'Hi.');
    await open(`/chat/${id}`);
    const speaker = dictated();
    stage.model.script(speaker.reply);
    await page.fill('textarea', 'Tell me a long story');
    await page.keyboard.press('Enter');
    await speaker.say('Once upon ');
    await page.waitForSelector('.writes');
    await tabTo('.speaker button', 'Enter');
    await page.waitForSelector('.speaker .state:text("stopped")');
    await page.waitForSelector('.writes', { state: 'detached' });
    const { body } = await stage.ask('GET', `/api/agents?sessionId=${id}`);
    expect(body.agents[0].status).to.equal('stopped');
  });

  it(
    `keeps the text of a failed send and over a reload, and sends it once${unless}`,
    withChromium,
    async () => {
      const { page, open, press } = visitor;
      const id = await begun('Hello', 'Hi.', 'Good.', 'Good.');
      await open(`/chat/${id}`, '.assistant');
      // The message arrives, but its reply is lost.
      await page.route('**/api/chat?*', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await page.fill('textarea', 'Are you there?');
      await press('Enter', '.composer [role=alert]:has-text("cannot be reached")');
      expect(await page.inputValue('textarea')).to.equal('Are you there?');
      await page.unroute('**/api/chat?*');
      await page.reload();
      await page.waitForSelector('textarea');
      expect(await page.inputValue('textarea')).to.equal('Are you there?');
      await page.click('text=Send');
      await untilMatches(() => page.inputValue('textarea'), '');
      expect(await userTexts(id)).to.equal(['Hello', 'Are you there?']);
      await page.reload();
      expect(await page.inputValue('textarea')).to.equal('');
    },
  );

  it(`loads what was missed while it was offline${unless}`, withChromium, async () => {
    const { page, open, click } = await stage.enter('ada');
    const id = await begun('Hello', 'Hi.', 'Meanwhile.');
    let drop = (): void => undefined;
    let isDown = false;
    await page.routeWebSocket('**/ws?*', (socket) => {
      socket.connectToServer();
      drop = () => void socket.close({ code: 1001 });
    });
    await page.route('**/api/auth/ws-ticket', (route) =>
      isDown ? route.abort() : route.continue(),
    );
    await open(`/chat/${id}`, '.assistant');
    await isLive(page);
    await page.waitForLoadState('networkidle');
    isDown = true;
    drop();
    await page.waitForSelector('text=offline');
    await stage.ask('POST', '/api/chat', { message: 'From elsewhere', sessionId: id });
    expect(await page.locator('.user').count()).to.equal(1);
    isDown = false;
    await click('text=Retry now', '.user:has-text("From elsewhere")');
    await page.waitForSelector('.assistant:has-text("Meanwhile.")');
  });

  it(`shows the newest messages, and earlier ones on demand${unless}`, withChromium, async () => {
    const { page, open, tabTo, violations } = visitor;
    stage.model.forget();
    stage.model.script(...longWork(), says({ text: 'Done.' }));
    const { body } = await stage.ask('POST', '/api/chat', { message: 'Work for long' });
    expect(body.message).to.equal('Done.');
    await open(`/chat/${body.sessionId}`, '.assistant:has-text("Done.")');
    // A task, two replies with 32 calls each, and the last reply.
    expect(await page.locator('.messages > li').count()).to.equal(50);
    expect(await page.locator('.tool').last().textContent()).to.include('tool_63');
    expect(await violations()).to.equal([]);
    await tabTo('main > button', 'Enter');
    await page.waitForSelector('.user:has-text("Work for long")');
    expect(await page.locator('.messages > li').count()).to.equal(68);
    expect(await page.locator('.tool').first().textContent()).to.include('tool_0');
    expect(await page.isVisible('text=Show earlier messages')).to.be.false();
  });

  it(`says who has begun the conversation of a hook${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    stage.model.forget();
    stage.model.script(says({ text: 'Noted.' }));
    const made = await stage.ask('POST', '/api/hooks', {
      name: 'news',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'news', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Read this' },
    });
    expect(made.status, made.text).to.equal(201);
    const payload = { text: 'You owe me.' };
    await stage.ask('POST', `/api/hooks/${made.body.id}/test`, { payload });
    await open('/chat', '.card');
    expect(await page.isVisible('.kind:text("hook")')).to.be.false();
    await page.check('text=Include conversations of hooks, tasks and channels');
    await click('.card:has(.kind:text("hook")) a', '.assistant:has-text("Noted.")');
    expect(await page.textContent('.user'))
      .to.include('Hook')
      .and.include('You owe me.');
    expect(await page.isVisible('.user .kind:text("You")')).to.be.false();
  });

  it(`forgets what was not sent with the logout${unless}`, withChromium, async () => {
    const { page, open, click } = await stage.enter('ada');
    await open('/chat');
    await page.fill('textarea', 'Between us');
    const kept = 'JSON.stringify(sessionStorage)';
    expect(await page.evaluate(kept)).to.include('Between us');
    await open('/device');
    await click('text=Log out', '#username');
    expect(await page.evaluate(kept)).to.equal('{}');
  });

  it(`follows the end only while the reader is there${unless}`, withChromium, async () => {
    const { page, open } = visitor;
    const long = 'A line of the answer.\n'.repeat(80);
    const id = await begun('Hello', long, 'One more.', 'The last.');
    await open(`/chat/${id}`, '.assistant');
    await isLive(page);
    const toEnd = 'document.documentElement.scrollHeight - innerHeight - scrollY';
    await until(
      async () => Number(await page.evaluate(toEnd)),
      (left) => left < 2,
    );
    await stage.ask('POST', '/api/chat', { message: 'And?', sessionId: id });
    await page.waitForSelector('.assistant:has-text("One more.")');
    await until(
      async () => Number(await page.evaluate(toEnd)),
      (left) => left < 2,
    );
    await page.evaluate('scrollTo(0, 300)');
    await page.waitForSelector('text=Go to the end');
    // The read text stays in place, even if something above it is removed.
    const place = 'document.querySelector(".assistant").getBoundingClientRect().top';
    const before = await page.evaluate(place);
    await stage.ask('POST', '/api/chat', { message: 'And then?', sessionId: id });
    await page.waitForSelector('.assistant:has-text("The last.")');
    expect(await page.evaluate(place)).to.equal(before);
    await page.click('text=New messages: go to the end');
    await until(
      async () => Number(await page.evaluate(toEnd)),
      (left) => left < 2,
    );
    await page.waitForSelector('text=New messages: go to the end', { state: 'detached' });
  });

  it(
    `says that a conversation is gone, with a way to the others${unless}`,
    withChromium,
    async () => {
      const { open, violations, click } = visitor;
      await open('/chat/session_01j9zq4w8k2m6n0p3r5t7v9xyz', '[role=alert]:has-text("Not found")');
      expect(await violations()).to.equal([]);
      await click('[role=alert] a', 'h1:text("Chat")');
    },
  );
});
