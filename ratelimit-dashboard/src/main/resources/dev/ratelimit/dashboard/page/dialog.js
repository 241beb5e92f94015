// Asks an operator for a change: its fields, its end, and a reason. Mistakes are shown beside the field.

import { button, el } from './dom.js';
import { post } from './api.js';

const ENDS = [
  ['15m', '15 minutes'], ['1h', '1 hour'], ['4h', '4 hours'], ['24h', '24 hours'], ['7d', '7 days'],
  ['moment', 'A moment …'], ['', 'No end, until someone changes it'],
];

function field({ name, label, value, help, type, step, options, required, wide, first, now }) {
  const id = `f-${name}`;
  const attributes = {
    id, name, required, autocomplete: 'off', spellcheck: 'false', 'data-first': first, 'aria-describedby': `${id}-help ${id}-error`,
  };
  const input = type === 'select'
    ? el('select', attributes, options.map(([key, text]) => el('option', { value: key, selected: key === value }, text)))
    : el('input', { ...attributes, type: type ?? 'text', step, value: value ?? '' });
  if (now !== undefined) {
    input.addEventListener('input', () => {
      input.closest('.field').querySelector('.help').textContent = input.value.trim() === now ? '' : `now ${now}`;
    });
  }
  return el('div', { class: wide ? 'field wide' : 'field', 'data-field': name },
    el('label', { for: id }, label), input,
    el('p', { class: 'error', id: `${id}-error`, role: 'alert' }),
    el('p', { class: 'help', id: `${id}-help` }, help ?? ''));
}

/** A moment as an input for the time of this browser has it, with seconds. */
function local(instant) {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * Two fields for the end of a change.
 *
 * @param preset one of the keys of ENDS, or an instant
 * @param endless the words for the choice without an end, if it means something else; null if there is no such choice
 */
function end(preset, endless) {
  const exact = !ENDS.some(([key]) => key === preset);
  const options = ENDS.filter(([key]) => key !== '' || endless !== null).map(([key, text]) => [key, key === '' ? endless ?? text : text]);
  const choice = field({
    name: 'for', label: 'For how long', type: 'select', options, value: exact ? 'moment' : preset,
    help: 'Afterwards the version before it applies again, by itself.',
  });
  const moment = field({
    name: 'until', label: 'Until', type: 'datetime-local', step: 1, value: exact ? local(preset) : '', help: 'In the time zone of this browser.',
  });
  moment.hidden = !exact;
  choice.querySelector('select').addEventListener('change', event => {
    moment.hidden = event.target.value !== 'moment';
  });
  return [choice, moment];
}

function endOf(values) {
  if (values.for === undefined) {
    return {};
  }
  if (values.for === 'moment') {
    const moment = new Date(values.until);
    return { until: Number.isNaN(moment.getTime()) ? 'missing' : moment.toISOString() };
  }
  return values.for ? { for: values.for } : {};
}

/**
 * Opens a dialog.
 *
 * @param fields the fields beside the end and the reason
 * @param ends the preset of the end, such as 1h or an instant; undefined if the change has none
 * @param endless the words for the choice without an end, if it means something else; null if there is no such choice
 * @param reason the reason that is filled in
 * @param check looks at the values before the call: a field and its mistake, or nothing
 * @param body makes the body of the call from the values of the fields
 * @param again reads the current values after a conflict, and returns how to open the dialog anew; undefined if that does not help
 * @returns whether the change was made
 */
export function ask({ title, text, fields = [], ends, endless, reason, confirm, danger, path, check, body, again }) {
  return new Promise(resolve => {
    const general = el('p', { class: 'error general', role: 'alert' });
    const submit = el('button', { type: 'submit', class: danger ? 'primary danger' : 'primary' }, confirm);
    const form = el('form', { novalidate: true },
      el('h2', { id: 'dialog-title' }, title),
      text ? el('p', { class: 'lead' }, text) : null,
      general,
      el('div', { class: 'fields' },
        fields.map(one => (one instanceof Node ? one : field(one))),
        ends === undefined ? null : end(ends, endless),
        field({
          name: 'reason', label: 'Reason', required: true, wide: true, value: reason,
          help: 'Kept with the change, beside your name: “launch day”, “ticket 4711”.',
        })),
      el('div', { class: 'actions' }, submit, button('Cancel', { onclick: () => dialog.close() })));
    const dialog = el('dialog', { 'aria-labelledby': 'dialog-title' }, form);
    let done = false;
    let next;

    /** Another person was faster: nothing is lost, and nothing overwrites the other change unseen. */
    function conflict(message, values) {
      const end = values.for === opened.for && values.until === opened.until ? undefined : endOf(values).until ?? values.for;
      const reload = button('Load the current values', {
        onclick: async () => {
          try {
            next = await again({ ...values, end });
            dialog.close();
          } catch (failure) {
            general.textContent = failure.message;
          }
        },
      });
      general.replaceChildren(message, el('span', { class: 'remedy' }, ' What you wrote stays. ', reload));
      reload.focus();
    }

    function mistake(name, message) {
      const place = [...form.querySelectorAll('[data-field]')].find(one => name && [name, `p:${name}`].includes(one.dataset.field));
      if (!place) {
        general.textContent = name ? `${name}: ${message}` : message;
        return;
      }
      place.querySelector('.error').textContent = message;
      const input = place.querySelector('input, select');
      input.setAttribute('aria-invalid', 'true');
      input.focus();
    }

    form.addEventListener('submit', async event => {
      event.preventDefault();
      for (const error of form.querySelectorAll('.error')) {
        error.textContent = '';
      }
      for (const input of form.querySelectorAll('[aria-invalid]')) {
        input.removeAttribute('aria-invalid');
      }
      const values = Object.fromEntries(new FormData(form));
      const finish = endOf(values);
      if (finish.until === 'missing') {
        mistake('until', 'Choose a day and a time.');
        return;
      }
      if (!values.reason.trim()) {
        mistake('reason', 'Say why you make this change.');
        return;
      }
      const wrong = check?.(values);
      if (wrong) {
        mistake(...wrong);
        return;
      }
      submit.disabled = true;
      submit.setAttribute('aria-busy', 'true');
      try {
        await post(path, { ...body(values), ...finish, reason: values.reason.trim() });
        done = true;
        dialog.close();
      } catch (failure) {
        submit.disabled = false;
        submit.removeAttribute('aria-busy');
        if (failure.status === 409 && again) {
          conflict(failure.message, values);
        } else {
          mistake(failure.field, failure.message);
        }
      }
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(next ? next() : done);
    });
    const opened = Object.fromEntries(new FormData(form));
    document.body.append(dialog);
    dialog.showModal();
    (form.querySelector('[data-first]') ?? form.querySelector('.fields input, .fields select') ?? submit).focus();
  });
}
