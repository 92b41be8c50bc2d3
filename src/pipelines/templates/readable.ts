import { isRecord } from '../../kernel/jsonvalue.js';
import { type NewTemplate, TemplateParameter, TemplateStage } from './contract.js';

export interface ReadableParts {
  template: NewTemplate;
  /** Paths of placeholders for unreadable parts. */
  unread: string[];
}

/**
 * Replaces unreadable parts, so that other faults are found as well. Each part keeps its position.
 */
export const readableParts = (input: unknown): ReadableParts => {
  const unread: string[] = [];
  const template = isRecord(input) ? input : {};
  const listOf = (name: string): unknown[] => (Array.isArray(template[name]) ? template[name] : []);
  const stages = listOf('stages').map((stage, at): TemplateStage => {
    const { error, value } = TemplateStage.validate(stage);
    if (!error) return value;
    unread.push(`stages.${at}`);
    return {
      key: getPartKey(stage, at),
      kind: 'wait',
      config: { seconds: 0 },
      needs: readStageNeeds(stage),
    };
  });
  const parameters = listOf('parameters').map((parameter, at): TemplateParameter => {
    const { error, value } = TemplateParameter.validate(parameter);
    if (!error) return value;
    unread.push(`parameters.${at}`);
    return { key: getPartKey(parameter, at), type: 'string' };
  });
  if (stages.length === 0) unread.push('stages');
  return { template: { name: 'unnamed', parameters, stages }, unread };
};

const getPartKey = (part: unknown, at: number): string =>
  isRecord(part) && typeof part.key === 'string' ? part.key : `/${at}`;

const readStageNeeds = (stage: unknown): string[] =>
  isRecord(stage) && Array.isArray(stage.needs)
    ? stage.needs.filter((need) => typeof need === 'string')
    : [];
