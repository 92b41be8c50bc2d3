import { isRecord } from '../../kernel/jsonvalue.js';
import type { TemplateStage } from './contract.js';
import type { StageKind } from './stagekinds.js';

/** Kinds that are not listed have other fields or none. */
const FIELDS: Partial<Record<StageKind, string[]>> = {
  http: ['status', 'headers', 'body'],
  approval: ['approved', 'reason'],
  research: ['id', 'question', 'markdown', 'unverified', 'limitations', 'sources'],
};

/** Returns the first unknown name of a path with the known names, or null. */
export const findMissingField = (
  stage: TemplateStage,
  path: readonly string[],
): { name: string; known: string[] } | null => {
  if (isRecord(stage.output)) return missingInSchema(stage.output, path);
  const [name] = path;
  const known = listOutputFields(stage);
  return name === undefined || known === null || known.includes(name) ? null : { name, known };
};

/** Returns null if the template does not define the fields. */
const listOutputFields = ({ kind, config }: TemplateStage): string[] | null => {
  if (kind === 'agent') return [];
  if (kind !== 'input') return FIELDS[kind] ?? null;
  const fields: unknown[] = Array.isArray(config.fields) ? config.fields : [];
  return fields.map((field) => String(Object(field).key));
};

const missingInSchema = (
  schema: Record<string, unknown>,
  path: readonly string[],
): { name: string; known: string[] } | null => {
  const [name, ...rest] = path;
  const { properties, additionalProperties } = schema;
  if (name === undefined || !isRecord(properties) || additionalProperties === true) return null;
  const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (inner === undefined) return { name, known: Object.keys(properties) };
  return isRecord(inner) ? missingInSchema(inner, rest) : null;
};
