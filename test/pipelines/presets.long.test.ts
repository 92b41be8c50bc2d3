import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { PipelineRunDetail } from '../../src/pipelines/runs/contract.js';
import { PRESETS } from '../../src/pipelines/templates/presets.js';
import { until } from '../harness/app.js';
import { upload } from '../harness/upload.js';
import {
  queriesOf,
  quotingReport,
  researchConfig,
  startResearcher,
  startWeb,
} from '../harness/web.js';
import { openPipelineStage, type PipelineStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const BRIDGE = 'Alton is a town. The bridge of Alton was closed in March. People swim now.';
const TRIAGE = { label: 'bug', urgency: 'high', answer: 'Thanks, it is mended in 1.4.3.' };

describe('templates that ship', () => {
  let stage: PipelineStage;
  let web: Awaited<ReturnType<typeof startWeb>>;
  let model: Awaited<ReturnType<typeof startResearcher>>;
  before(async () => {
    web = await startWeb([{ '/bridge': `<title>T</title><article><p>${BRIDGE}</p></article>` }]);
    web.finds([web.at(0, '/bridge')]);
    model = await startResearcher((task, prompt) => {
      if (task === 'plan') return queriesOf('bridge of Alton');
      if (prompt.includes('--- Source 1')) return quotingReport(prompt);
      return prompt.includes('JSON Schema') ? JSON.stringify(TRIAGE) : 'A text of the model.';
    });
    stage = await openPipelineStage({ config: researchConfig(web, model) });
  });
  after(async () => {
    await stage.stop();
    await web.stop();
    await model.stop();
  });

  /** Starts a run and approves what it asks, until it has ended. */
  const carryOut = async (templateId: string, params: object): Promise<PipelineRunDetail> => {
    const started = await stage.call('POST', '', { templateId, params });
    if (started.status !== 201) throw new Error(started.text);
    const { id } = started.body;
    return until(
      async () => {
        const run = await stage.run(id);
        for (const { key, status, digest } of run.stages) {
          const asks = status === 'waiting_approval';
          if (asks) await stage.call('POST', `/${id}/stages/${key}/approve`, { digest });
        }
        return run;
      },
      ({ finishedAt }) => finishedAt !== null,
      20_000,
    );
  };

  it('are each carried out to the end', async () => {
    const text = 'The contract of the boiler ends in May.';
    const files = [{ name: 'boiler.txt', content: text }];
    const uploaded = await upload(stage.app, stage.token, files);
    const document = uploaded.body.documents[0]?.id;
    await until(
      async () =>
        (await stage.app.call('GET', `/api/documents/${document}`, { token: stage.token })).body,
      ({ status }) => status === 'completed',
    );
    const params: Record<string, object> = {
      preset_issue_triage: { issue: 'It crashes when I log in' },
      preset_release_notes: { version: '2.1', changes: 'Faster search' },
      preset_daily_briefing: {},
      preset_document_mail: { document, recipient: 'Grace' },
      preset_research_report: { question: 'When was the bridge of Alton closed?' },
    };
    for (const { id } of PRESETS) {
      const run = await carryOut(id, params[id] ?? {});
      const unfinished = run.stages.filter(({ status }) => status !== 'completed');
      expect([id, run.status, run.error, unfinished]).to.equal([id, 'completed', null, []]);
    }
    const asked = model.openai.asked.map(({ body }) => JSON.stringify(body)).join('\n');
    // The summary was made of the document, the report of what was found.
    expect(asked).to.contain(text);
    expect(asked).to.match(/Write a report of one page[^"]*closed in March|Source 1 says so/);
    const { body } = await stage.app.call('GET', '/api/notifications', { token: stage.token });
    const titles = body.notifications.map(({ title }: { title: string }) => title);
    expect(titles).to.include('Issue triaged: bug');
  });

  it('name the arguments of their tools, as every template must', async () => {
    const tool = (toolParams: object) => ({
      name: `T${Math.random()}`,
      stages: [
        { key: 'a', kind: 'tool', config: { toolId: 'notify', toolAction: 'send', toolParams } },
      ],
    });
    const wrong = await stage.call('POST', '/templates', tool({ body: 'x' }));
    expect(wrong.body.details).to.equal([
      {
        path: 'stages.0.config.toolParams.body',
        message: 'is not an argument of the tool; valid arguments: message, title',
      },
      { path: 'stages.0.config.toolParams.message', message: 'is required by the tool' },
    ]);
    const right = await stage.call('POST', '/templates', tool({ message: '{{run.id}}' }));
    expect(right.status).to.equal(201);
  });
});
