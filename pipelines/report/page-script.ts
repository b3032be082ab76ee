/** The script of the report: it searches, sorts and filters the regencies, moves between the rows of a chart, and lets people take charts away. */

/** Sorts by the exact fraction of a figure, by its value, or by text. Hides rows that don't match search and filters. */
const regencies = `
(() => {
  const table = document.getElementById('all'), body = table.tBodies[0], rows = [...body.rows];
  const search = document.getElementById('search'), province = document.getElementById('province'), noted = document.getElementById('noted');
  document.getElementById('controls').hidden = false;
  const filter = () => {
    const text = search.value.trim().toLowerCase();
    for (const row of rows)
      row.hidden = !(row.cells[0].textContent.toLowerCase().includes(text) &&
        (province.value === '' || row.cells[1].textContent === province.value) &&
        (!noted.checked || row.cells[7].textContent !== ''));
  };
  for (const control of [search, province, noted]) control.addEventListener('input', filter);
  const exact = (cell) => {
    const figure = cell.querySelector('data');
    if (figure === null || figure.value === '') return null;
    const [numerator, denominator = '1'] = (figure.dataset.of ?? figure.value).split('/');
    return [BigInt(numerator), BigInt(denominator)];
  };
  const order = (a, b, sign) => {
    if (a.text !== undefined) return sign * a.text.localeCompare(b.text);
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
    const difference = a.value[0] * b.value[1] - b.value[0] * a.value[1];
    return sign * (difference < 0n ? -1 : difference > 0n ? 1 : 0);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const ascending = head.getAttribute('aria-sort') === 'descending' || (column < 2 && head.getAttribute('aria-sort') !== 'ascending');
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      const keyed = rows.map((row) => {
        const cell = row.cells[column];
        return column < 2 || column === 7 ? { row, text: cell.textContent } : { row, value: exact(cell) };
      });
      keyed.sort((a, b) => order(a, b, ascending ? 1 : -1));
      body.append(...keyed.map(({ row }) => row));
    });
  });
})();
`;

/** Makes the rows of each chart one stop of the keyboard, whose arrows move between them. A row that has the focus shows its values. */
const rows = `
for (const list of document.querySelectorAll('.dots, .map')) {
  const items = [...list.querySelectorAll('li[data-name]')];
  items.forEach((item, place) => {
    item.tabIndex = place === 0 ? 0 : -1;
    item.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const next = step === undefined ? undefined : items[place + step];
      if (next === undefined) return;
      event.preventDefault();
      item.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
}
`;

/**
 * Adds buttons that save a chart as SVG, PNG or CSV. The drawing is made of what is on the screen: boxes with a color, texts, and the lines of
 * the axis, between a title and the source.
 */
const take = `
(() => {
  const { source } = document.getElementById('figures').dataset;
  const escape = (text) => text.replace(/[&<>"]/g, (one) => '&#' + one.charCodeAt(0) + ';');
  const write = (x, y, size, color, text, weight = 400) =>
    '<text x="' + x + '" y="' + y + '" font-size="' + size + '" font-weight="' + weight + '" fill="' + color + '">' + escape(text) + '</text>';
  const drawBox = (element, left, top) => {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    const [width, height] = [element.offsetWidth, element.offsetHeight];
    const isDashed = style.outlineStyle === 'dashed';
    if (style.backgroundColor === 'rgba(0, 0, 0, 0)' && !isDashed) return '';
    const [x, y] = [box.left + box.width / 2 - left, box.top + box.height / 2 - top];
    const radius = style.borderRadius.endsWith('%') ? width / 2 : parseFloat(style.borderRadius) || 0;
    return '<rect x="' + (x - width / 2) + '" y="' + (y - height / 2) + '" width="' + width + '" height="' + height + '" rx="' + radius +
      '" fill="' + style.backgroundColor + '" opacity="' + style.opacity + '"' +
      (style.rotate === 'none' ? '' : ' transform="rotate(' + parseFloat(style.rotate) + ' ' + x + ' ' + y + ')"') +
      (isDashed ? ' stroke="' + style.color + '" stroke-dasharray="3 2"' : '') + '/>';
  };
  const drawText = (node, left, top) => {
    const style = getComputedStyle(node.parentElement), size = parseFloat(style.fontSize), lines = new Map();
    for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      const line = lines.get(box.top) ?? { x: box.left - left, y: box.top + box.height / 2 - top + size * 0.35, words: [] };
      if (box.width > 0) lines.set(box.top, line);
      line.words.push(word);
    }
    return [...lines.values()].map(({ x, y, words }) => write(x, y, size, style.color, words.join(' '), style.fontWeight)).join('');
  };
  const fold = (text, width) => text.match(new RegExp('.{1,' + Math.max(20, Math.floor(width / 6.5)) + '}(?:\\\\s+|$)', 'g'));
  const draw = (chart) => {
    const root = getComputedStyle(document.body), paper = getComputedStyle(document.documentElement);
    const box = chart.getBoundingClientRect(), { title, key = '' } = chart.dataset;
    const width = Math.ceil(box.width + 32), above = key === '' ? 44 : 62, foot = [chart.dataset.foot ?? '', source].filter(Boolean).flatMap((text) => fold(text, width - 32));
    const [left, top, height] = [box.left - 16, box.top - above, Math.ceil(box.height + above + 24 + 15 * foot.length)];
    const line = paper.getPropertyValue('--line');
    const grid = [...chart.querySelectorAll('.axis .track span')].map((tick) => {
      const at = tick.getBoundingClientRect(), x = at.left + at.width / 2 - left;
      return '<line x1="' + x + '" x2="' + x + '" y1="' + (at.bottom - top) + '" y2="' + (box.bottom - top) + '" stroke="' + line + '"/>';
    });
    const boxes = [...chart.querySelectorAll('li, i')].filter((one) => one.closest('.tip') === null).map((one) => drawBox(one, left, top));
    const walker = document.createTreeWalker(chart, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) if (walker.currentNode.parentElement.closest('.tip') === null) texts.push(drawText(walker.currentNode, left, top));
    return '<svg xmlns="http://www.w3.org/2000/svg" width="' + width + '" height="' + height + '" viewBox="0 0 ' + width + ' ' + height +
      '" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="' + paper.backgroundColor + '"/>' +
      write(16, 28, 17, root.color, title, 700) + write(16, 46, 11, root.color, key) + [...grid, ...boxes, ...texts].join('') +
      foot.map((text, at) => write(16, height - 12 - 15 * (foot.length - 1 - at), 11, root.color, text)).join('') + '</svg>';
  };
  const cell = (text) => {
    const safe = /^[=+\\-@\\t\\r]/.test(text) ? "'" + text : text;
    return /[",\\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const list = (chart) => [
    JSON.parse(chart.dataset.head),
    ...[...chart.querySelectorAll('li[data-name]')].map((row) => [
      row.dataset.name,
      ...[...row.querySelectorAll('data')].filter((one) => one.closest('small, .map .tip') === null).map((one) => one.value),
      ...[...row.querySelectorAll('small')].map((note) => note.textContent.trim().replace(/\\s+/g, ' ')),
      ...[...row.querySelectorAll('[data-note]')].map((note) => note.dataset.note.slice(2)),
    ]),
    ...[chart.dataset.foot ?? '', source].filter(Boolean).map((text) => [text]),
  ].map((cells, _, [head]) => head.map((_name, at) => cell(cells[at] ?? '')).join(',') + '\\n').join('');
  const save = (chart, ending, url) => Object.assign(document.createElement('a'), { download: chart.dataset.chart + '.' + ending, href: url }).click();
  const svgUrl = (chart) => 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(draw(chart));
  const forms = {
    SVG: (chart) => save(chart, 'svg', svgUrl(chart)),
    PNG: async (chart) => {
      const image = new Image();
      image.src = svgUrl(chart);
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: 2 * image.width, height: 2 * image.height });
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      save(chart, 'png', canvas.toDataURL());
    },
    CSV: (chart) => save(chart, 'csv', 'data:text/csv;charset=utf-8,' + encodeURIComponent(list(chart))),
  };
  for (const chart of document.querySelectorAll('[data-chart]')) {
    const bar = Object.assign(document.createElement('p'), { className: 'take' });
    for (const [name, act] of Object.entries(forms)) {
      const button = Object.assign(document.createElement('button'), { textContent: name, type: 'button' });
      button.setAttribute('aria-label', name + ': ' + chart.dataset.title);
      button.addEventListener('click', () => act(chart));
      bar.append(button);
    }
    chart.after(bar);
  }
})();
`;

export const script = regencies + rows + take;
