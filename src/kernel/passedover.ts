import { isRecord } from './jsonvalue.js';

interface PassedOverModel {
  model: string;
  because: string;
}

/** Without a full stop at their ends. */
export const formatFailures = (passedOver: PassedOverModel[]): string[] =>
  passedOver.map(({ model, because }) =>
    (because.startsWith(model) ? because : `${model}: ${because}`).replace(/\.$/, ''),
  );

/** Of the data of an `agent.message` event. Null if the first model answered. */
export const formatPassedOver = (data: unknown): string | null => {
  if (!isRecord(data) || !Array.isArray(data.passedOver)) return null;
  const failures = formatFailures(data.passedOver.filter(isPassedOver));
  return `${failures.join('. ')}. ${data.model} answered.`;
};

const isPassedOver = (each: unknown): each is PassedOverModel =>
  isRecord(each) && typeof each.model === 'string' && typeof each.because === 'string';
