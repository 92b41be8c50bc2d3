import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { call, removeAgents } from '../agents/stage.js';
import { dictated, says } from '../harness/openai.js';
import { isLive, type Visitor, WIDTHS } from './stage.js';
import { openTalkStage, type TalkStage } from './talk.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const XSS = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e';
const SHOWN = XSS.replace('\u202e', '⟦U+202E⟧');

describe('agents on the page', () => {
  let stage: TalkStage;
  let visitor: Visitor;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openTalkStage();
    visitor = await stage.enter('ada');
  });

  afterEach(async () => {
    if (withChromium.skip) return;
    await removeAgents(stage);
    stage.model.forget();
  });

  after(() => stage?.stop());

  it(`lists them, and changes as they do${unless}`, withChromium, async () => {
    const { page, open, violations, complaints } = visitor;
    await open('/agents', 'text=No agents yet.');
    await isLive(page);
    expect(await violations()).to.equal([]);
    const speaker = dictated();
    stage.model.script(speaker.reply);
    const { id } = await stage.spawn({ prompt: 'Do it', name: 'greeter' });
    const link = `a[href="/agents/${id}"]`;
    await page.waitForSelector('.card:has-text("running")');
    expect(await page.textContent(link)).to.equal('greeter');
    await page.focus(link);
    await speaker.say('Done.');
    await speaker.end();
    await page.waitForSelector('.card:has-text("completed")');
    const text = (await page.textContent('.card')) ?? '';
    expect(text).to.include('fake, step 1, $0.00').and.not.include('untrusted');
    // The focus stays while the list is reloaded.
    expect(await page.evaluate('document.activeElement.pathname')).to.equal(`/agents/${id}`);
    expect(await violations()).to.equal([]);
    await page.selectOption('select', 'failed');
    await page.waitForSelector('text=No agents with the status failed.');
    await page.selectOption('select', 'completed');
    await page.waitForSelector(link);
    expect(complaints).to.equal([]);
  });

  it(`shows further pages${unless}`, withChromium, async () => {
    const { page, open, tabTo } = visitor;
    for (let nth = 0; nth < 55; nth++) {
      await stage.spawn({ prompt: 'Do it', name: `agent ${nth}`, model: 'digest' });
    }
    await open('/agents', '.card');
    expect(await page.locator('.card').count()).to.equal(30);
    await tabTo('.buttons button', 'Enter');
    await page.waitForSelector('.card >> nth=54');
    expect(await page.locator('.card').count()).to.equal(55);
    const names = await page.locator('.card strong').allTextContents();
    expect([names[0], names[54]]).to.equal(['agent 54', 'agent 0']);
  });

  it(`shows the facts and the transcript of one${unless}`, withChromium, async () => {
    const { page, open, tabTo, violations, complaints } = visitor;
    stage.model.script(
      says({ text: 'I look at the clock.', toolCalls: [call('time_now', { zone: 'UTC' })] }),
      says({ text: 'It is late.' }),
    );
    const { id, sessionId } = await stage.spawn({
      prompt: 'What time is it?',
      name: 'watch',
      limits: { maxSteps: 7 },
    });
    await stage.reaches(id, 'completed');
    await open(`/agents/${id}`, '.message:has-text("It is late.")');
    expect(await page.textContent('h1')).to.equal('watch');
    const facts = (await page.textContent('.facts')) ?? '';
    expect(facts).to.include('Modelfake').and.include('Steps2 of 7').and.include('Started byYou');
    expect(facts).to.include('Tokens30 of 500,000').and.include('Cost$0.00 of $1.00');
    expect(await page.isVisible('text=Arguments')).to.be.false();
    expect(await page.locator('.call').count()).to.equal(1);
    await tabTo('.call summary', 'Enter');
    expect(await page.textContent('.call'))
      .to.include('zone')
      .and.include('UTC');
    expect(await page.isVisible('.call h3:text("Result")')).to.be.true();
    expect(await violations()).to.equal([]);
    expect(await page.getAttribute('a:text("All messages")', 'href')).to.equal(
      `/chat/${sessionId}`,
    );
    expect(complaints).to.equal([]);
  });

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows what it writes, and pauses, resumes and stops it by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations } = visitor;
        await page.setViewportSize(viewport);
        const [first, second] = [dictated(), dictated()];
        stage.model.script(first.reply, second.reply);
        const { id } = await stage.spawn({ prompt: 'Tell a story', name: 'teller' });
        await open(`/agents/${id}`);
        await isLive(page);
        await first.say('Once upon ');
        await page.waitForSelector('.writes:has-text("Once upon")');
        await tabTo('.verbs button', 'Enter');
        await page.waitForSelector('[role=status] .state:text("paused")');
        expect((await stage.reaches(id, 'paused')).status).to.equal('paused');
        await page.waitForSelector('.writes', { state: 'detached' });
        await tabTo('.verbs button:not(.danger)', 'Enter');
        await second.say('A second time ');
        await page.waitForSelector('.writes:has-text("A second time")');
        expect(await violations()).to.equal([]);
        await tabTo('.verbs button.danger', 'Enter');
        await page.waitForSelector(
          'text=Stop teller? Its actions are not undone. The agent is kept.',
        );
        expect((await stage.reaches(id, 'running')).status).to.equal('running');
        expect(await violations()).to.equal([]);
        await tabTo('[role=group] button.danger', 'Enter');
        await page.waitForSelector('[role=status] .state:text("stopped")');
        expect((await stage.reaches(id, 'stopped')).status).to.equal('stopped');
      },
    );
  }

  it(`gives it a message, which is in its transcript${unless}`, withChromium, async () => {
    const { page, open, press } = visitor;
    stage.model.script(says({ text: 'Good day.' }), says({ text: 'Bonjour.' }));
    const { id } = await stage.spawn({ prompt: 'Greet', name: 'greeter' });
    await stage.reaches(id, 'completed');
    await open(`/agents/${id}`);
    await isLive(page);
    await page.fill('textarea', 'And in French?');
    await press('Enter', '.messages .message:has-text("Bonjour.")');
    expect(JSON.stringify(stage.model.asked.at(-1)?.body)).to.include('And in French?');
    await page.waitForSelector('.said');
    const texts = await page.locator('.messages .prose').allTextContents();
    expect(texts).to.equal(['Good day.', 'And in French?', 'Bonjour.']);
  });

  it(`has its approval with it${unless}`, withChromium, async () => {
    const { page, open, violations, click } = visitor;
    stage.model.script(
      says({ toolCalls: [stage.post('from the agent')] }),
      says({ text: 'Sent.' }),
    );
    const { id } = await stage.spawn({ prompt: 'Send it' });
    await open(`/agents/${id}`, 'section.approval:has-text("from the agent")');
    await page.waitForSelector('text=A message withdraws the pending call.');
    expect(await violations()).to.equal([]);
    await click('section.approval button:text("Allow")', '.message:has-text("Sent.")');
    expect(stage.canary.heard.map(({ body }) => body)).to.equal(['from the agent']);
    await page.waitForSelector('.call:has-text("ok")');
  });

  it(
    `says who asks, where it goes, and the scope that was given${unless}`,
    withChromium,
    async () => {
      const { page, open, tabTo, violations } = visitor;
      stage.model.script(says({ toolCalls: [stage.post('by name')] }), says({ text: 'Sent.' }));
      const { id } = await stage.spawn({ prompt: 'Send it', name: 'courier' });
      await stage.reaches(id, 'waiting_approval');
      const { approvals } = (await stage.ask('GET', `/api/chat/approvals?agentId=${id}`)).body;
      await open(`/approvals/${approvals[0].id}`);
      await page.waitForSelector(`dd a[href="/agents/${id}"]:text("Agent courier")`);
      const { host } = new URL(stage.canary.url);
      await page.waitForSelector(`dt:text("Destination") + dd strong:text-is("${host}")`);
      await tabTo('.answer summary', 'Enter');
      await page.waitForSelector('.answer[aria-label="Your decision"] details[open]');
      expect(await violations()).to.equal([]);
      await page.check('.answer input[value=host]');
      await tabTo('button.main');
      await page.waitForSelector('button.main[aria-disabled=false]');
      await page.keyboard.press('Enter');
      await page.waitForSelector(
        `text=Allowed: This tool, host (${host}), port and method, from this hook or conversation, for 30 days`,
      );
      await stage.reaches(id, 'completed');
      const { grants } = (await stage.ask('GET', '/api/skills/grants')).body;
      expect(grants.map(({ scope }: { scope: string }) => scope)).to.equal(['host']);
    },
  );

  it(`shows what others write as text${unless}`, withChromium, async () => {
    const { page, open, violations } = visitor;
    stage.model.script(
      says({ text: XSS, toolCalls: [call(`time_now`, { zone: XSS, [XSS]: XSS })] }),
      says({ text: XSS }),
    );
    const { id } = await stage.spawn({ prompt: XSS, name: XSS });
    await stage.reaches(id, 'completed');
    await open('/agents', '.card');
    expect(await page.textContent('.card strong')).to.equal(SHOWN);
    await open(`/agents/${id}`, '.call');
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await page.textContent('h1')).to.equal(SHOWN);
    expect(await page.textContent('.message .prose')).to.equal(SHOWN);
    expect(await page.textContent('.call dl')).to.include(SHOWN);
    expect(await page.locator('main img, main script').count()).to.equal(0);
    expect(await page.title()).to.include('<img');
    expect(await violations()).to.equal([]);
  });

  it(`says how many events are no longer kept${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    const replies = [0, 1, 2, 3].map((reply) =>
      says({ toolCalls: Array.from({ length: 32 }, (_, nth) => call(`tool_${reply}_${nth}`)) }),
    );
    stage.model.script(...replies, says({ text: 'Done.' }));
    const { id, sessionId } = await stage.spawn({ prompt: 'Work for long' });
    await stage.reaches(id, 'completed');
    await open(`/agents/${id}`, '.message:has-text("Done.")');
    const { body } = await stage.ask('GET', `/api/agents/${id}/events?limit=1`);
    // Four replies with two events for each of 32 calls. The newest 200 are kept.
    const dropped = body.oldestId - 1;
    expect(dropped > 50 && dropped < 80, String(dropped)).to.be.true();
    await page.waitForSelector(`text=The first ${dropped} events are no longer kept.`);
    await click('text=The conversation contains all messages.', '.assistant:has-text("Done.")');
    expect(new URL(page.url()).pathname).to.equal(`/chat/${sessionId}`);
  });

  it(`lists its sub-agents, which lead back to it${unless}`, withChromium, async () => {
    const { open, violations, click } = visitor;
    stage.model.script(
      says({ toolCalls: [call('agents_delegate', { prompt: 'Look' })] }),
      says({ text: 'Found.' }),
      says({ text: 'It was found.' }),
    );
    const { id } = await stage.spawn({ prompt: 'Find it', name: 'leader' });
    await open(`/agents/${id}`);
    await click('.cards a', '.message:has-text("Found.")');
    expect(await violations()).to.equal([]);
    await click('text=Another agent', 'h1:text("leader")');
  });

  it(`says that one is gone, with a way to the others${unless}`, withChromium, async () => {
    const { open, violations, click } = visitor;
    await open('/agents/agent_01j9zq4w8k2m6n0p3r5t7v9xyz', '[role=alert]:has-text("Not found")');
    expect(await violations()).to.equal([]);
    await click('[role=alert] a', 'h1:text("Agents")');
  });
});
