// Keyboard shortcuts: single keys, which a person can switch off. They rest while one writes or a dialog is open.

import { button, el } from './dom.js';

const OFF = 'ratelimit.shortcuts.off';

/** A browser may refuse to keep anything. */
function stored() {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false;
  }
}

function store(off) {
  try {
    if (off) {
      localStorage.setItem(OFF, '');
    } else {
      localStorage.removeItem(OFF);
    }
  } catch {
    // The choice holds until the page is left.
  }
}

/**
 * @param opener the button that shows them
 * @param screens the names of the screens, in the order of their keys
 */
export function shortcuts(opener, screens, pause) {
  let off = stored();

  function help() {
    const choice = el('input', { type: 'checkbox', id: 'keys-on', checked: !off, onchange: () => { off = !choice.checked; store(off); } });
    const row = (key, text) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)];
    const dialog = el('dialog', { class: 'small', 'aria-labelledby': 'keys-title', onclose: () => dialog.remove() },
      el('h2', { id: 'keys-title' }, 'Keyboard shortcuts'),
      el('dl', { class: 'facts' },
        screens.map((name, index) => row(String(index + 1), name.charAt(0).toUpperCase() + name.slice(1))),
        row('/', 'Search or filter on this screen'), row('p', 'Stop or go on updating'), row('?', 'This list'),
        row('← →', 'In a chart: one period back or forth'), row('Esc', 'Close a dialog')),
      el('p', { class: 'check' }, choice, el('label', { for: 'keys-on' }, 'Single keys are on')),
      el('div', { class: 'actions' }, button('Close', { onclick: () => dialog.close() })));
    document.body.append(dialog);
    dialog.showModal();
  }

  const search = () => {
    const field = document.querySelector('main input[type="search"], main form input');
    if (!field) {
      location.hash = '#/subjects';
    }
    field?.focus();
    field?.select();
  };

  opener.addEventListener('click', help);
  document.addEventListener('keydown', event => {
    if (off || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector('dialog[open]')
      || event.target.closest?.('input, textarea, select')) {
      return;
    }
    const screen = screens[Number(event.key) - 1];
    const work = screen ? () => { location.hash = `#/${screen}`; } : { '/': search, 'p': pause, '?': help }[event.key];
    if (work) {
      event.preventDefault();
      work();
    }
  });
}
