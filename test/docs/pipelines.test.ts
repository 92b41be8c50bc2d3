import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parseTemplateYaml } from '../../src/pipelines/templates/yaml.js';
import { codeBlocks, documents } from '../harness/documents.js';
import { openForSuite } from '../harness/suite.js';
import { openPipelineStage } from '../pipelines/stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const samples = documents()
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'yaml');

describe('templates in the documents', () => {
  const stage = openForSuite(lab, openPipelineStage);

  it('are templates that can be saved', async () => {
    expect(samples.length).to.be.above(0);
    for (const { code } of samples) {
      const { body } = await stage.call(
        'POST',
        '/templates/validate',
        parseTemplateYaml(code).value,
      );
      expect([code, body.problems]).to.equal([code, []]);
    }
  });
});
