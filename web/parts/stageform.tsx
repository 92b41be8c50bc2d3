import { useId } from 'preact/hooks';
import { ask } from '../state/api.js';
import { useAction } from './action.js';
import { visibleText } from './json.js';
import { Failure } from './notes.js';
import type { ShownStage } from './stageapproval.js';
import { StageQuestion } from './stageapproval.js';

interface FormFieldDefinition {
  key: string;
  label?: string;
  type: 'string' | 'number' | 'boolean' | 'choice' | 'text';
  options?: string[];
  required?: boolean;
}

/** Request of a stage that waits for input, with a field for each value. */
export const StageForm = ({ run, stage, loaded, digest }: ShownStage & { digest: string }) => {
  const action = useAction();
  const fields = getFormFields(stage.input);
  const submitValues = async (form: FormData): Promise<void> => {
    const body = { digest, values: parseFormValues(fields, form) };
    const path = '/api/pipelines/{id}/stages/{key}/input';
    loaded.replace(await ask('POST', path, { id: run.id, key: stage.key, body }));
    document.querySelector('h1')?.focus();
  };
  return (
    <form
      aria-label={`Input for ${visibleText(stage.name)}`}
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void action.run(() => submitValues(form));
      }}
    >
      <h3>Request</h3>
      <StageQuestion of={stage.input} without={['fields']} />
      {fields.map((field) => (
        <InputField key={field.key} field={field} />
      ))}
      {action.error && <Failure error={action.error} />}
      <div class="buttons">
        <button type="submit" class="main" aria-disabled={action.isBusy}>
          Submit
        </button>
      </div>
    </form>
  );
};

/** The daemon has validated the fields. */
const getFormFields = (input: unknown): FormFieldDefinition[] => {
  const { fields } = Object(input);
  return Array.isArray(fields) ? fields : [];
};

/** Values by type. Empty fields are left out. */
const parseFormValues = (fields: FormFieldDefinition[], form: FormData): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ key, type }): [string, unknown][] => {
      const text = String(form.get(key) ?? '');
      if (text === '') return [];
      if (type === 'number') return [[key, Number(text)]];
      return [[key, type === 'boolean' ? text === 'true' : text]];
    }),
  );

const InputField = ({ field }: { field: FormFieldDefinition }) => {
  const id = useId();
  return (
    <>
      <label for={id}>
        {visibleText(field.label ?? field.key)}
        {field.required ? '' : ' (optional)'}
      </label>
      <FieldControl field={field} id={id} />
    </>
  );
};

const FieldControl = ({
  field: { key: name, type, options = [], required },
  id,
}: {
  field: FormFieldDefinition;
  id: string;
}) => {
  if (type === 'text') return <textarea id={id} name={name} rows={4} required={required} />;
  if (type !== 'boolean' && type !== 'choice') {
    const isNumber = type === 'number';
    const kind = isNumber ? { type: 'number', step: 'any' } : { type: 'text' };
    return <input id={id} name={name} {...kind} required={required} />;
  }
  const choices = type === 'boolean' ? ['true', 'false'] : options;
  return (
    <select id={id} name={name} required={required}>
      <option value="">Select…</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {visibleText(choice)}
        </option>
      ))}
    </select>
  );
};
