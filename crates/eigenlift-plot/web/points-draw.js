"use strict";
// Two ways to draw points: WebGL2, and Canvas 2D where that is missing.
//
// Both take coordinates scaled to −1…1 and four bytes for each point: red, green, blue and a mark. The mark
// is 0 for a point that is not drawn, otherwise 1 + shape, plus DIM for a point outside the selection. A frame
// with `step` above 1 shows every step-th point only.

EigenliftPoints.parts.draw = (() => {
  const DIM = 128;
  const DIM_OPACITY = 0.18;
  /** Half the side of a sprite in units of the marker's radius; the triangle is the largest shape. */
  const REACH = 1.3;

  const VERTEX = `#version 300 es
    precision highp float;
    in float a_x;
    in float a_y;
    in vec4 a_look;
    uniform vec2 u_scale, u_offset;
    uniform float u_size;
    uniform int u_dim;
    flat out vec3 v_color;
    flat out int v_shape;
    void main() {
      int mark = int(a_look.a * 255.0 + 0.5);
      bool drawn = mark > 0 && (mark >= ${DIM}) == (u_dim == 1);
      gl_Position = drawn ? vec4(vec2(a_x, a_y) * u_scale + u_offset, 0.0, 1.0) : vec4(4.0, 4.0, 4.0, 1.0);
      gl_PointSize = u_size;
      v_color = a_look.rgb;
      v_shape = (mark & 127) - 1;
    }`;

  const FRAGMENT = `#version 300 es
    precision highp float;
    flat in vec3 v_color;
    flat in int v_shape;
    uniform float u_size, u_opacity;
    out vec4 color;
    void main() {
      vec2 p = (gl_PointCoord * 2.0 - 1.0) * ${REACH.toFixed(1)};
      float s = length(p) - 1.0;
      if (v_shape == 1) s = max(abs(p.x), abs(p.y)) - 0.9;
      if (v_shape == 2) s = max(p.y - 0.7, (abs(p.x) * 1.9 - 1.1 * (p.y + 1.2)) / 2.2);
      float cover = clamp(0.5 - s * u_size / ${(2 * REACH).toFixed(1)}, 0.0, 1.0) * u_opacity;
      color = vec4(v_color * cover, cover);
    }`;

  function compiled(gl, kind, source) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    return shader;
  }

  function linked(gl) {
    const program = gl.createProgram();
    gl.attachShader(program, compiled(gl, gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(program, compiled(gl, gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(program);
    return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
  }

  /** What is made anew after the graphics card forgot everything. */
  function prepared(gl) {
    const program = linked(gl);
    if (!program) return null;
    const buffer = (name, size, type, normal) => {
      const place = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(place);
      return { data: gl.createBuffer(), layout: (step) => gl.vertexAttribPointer(place, size, type, normal, 4 * step, 0) };
    };
    gl.bindVertexArray(gl.createVertexArray());
    const buffers = {
      x: buffer("a_x", 1, gl.FLOAT, false),
      y: buffer("a_y", 1, gl.FLOAT, false),
      look: buffer("a_look", 4, gl.UNSIGNED_BYTE, true),
    };
    const names = ["u_scale", "u_offset", "u_size", "u_opacity", "u_dim"];
    const uniforms = Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)]));
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.enable(gl.SCISSOR_TEST);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return { buffers, uniforms };
  }

  /** A renderer by WebGL2, or null where it cannot run. */
  function webgl(canvas, redraw) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true, alpha: true });
    let made = gl && !gl.isContextLost() ? prepared(gl) : null;
    if (!made) return null;
    let [n, last, marks] = [0, null, null];
    const fill = (name, values) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, made.buffers[name].data);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    };
    const upload = (x, y) => {
      [n, last] = [x.length, { x, y }];
      fill("x", x);
      fill("y", y);
    };
    const paint = (looks) => {
      marks = looks;
      fill("look", looks);
    };
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      made = null;
    });
    canvas.addEventListener("webglcontextrestored", () => {
      made = prepared(gl);
      if (made && last) upload(last.x, last.y);
      if (made && marks) paint(marks);
      redraw();
    });
    const pass = (frame, dim) => {
      gl.uniform1i(made.uniforms.u_dim, dim ? 1 : 0);
      gl.uniform1f(made.uniforms.u_opacity, frame.opacity * (dim ? DIM_OPACITY : 1));
      gl.drawArrays(gl.POINTS, 0, Math.ceil(n / frame.step));
    };
    /** Every step-th point; all attributes have four bytes. */
    const lay = (step) => {
      for (const buffer of Object.values(made.buffers)) {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer.data);
        buffer.layout(step);
      }
    };
    const draw = (frame) => {
      if (!made) return;
      const { box, ratio } = frame;
      const place = [box.left, frame.height - box.top - box.height, box.width, box.height];
      const device = place.map((v) => Math.round(v * ratio));
      gl.disable(gl.SCISSOR_TEST);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.enable(gl.SCISSOR_TEST);
      if (n === 0 || device[2] < 1 || device[3] < 1) return;
      lay(frame.step);
      gl.viewport(...device);
      gl.scissor(...device);
      gl.uniform2f(made.uniforms.u_scale, frame.scale[0], frame.scale[1]);
      gl.uniform2f(made.uniforms.u_offset, frame.offset[0], frame.offset[1]);
      gl.uniform1f(made.uniforms.u_size, 2 * REACH * frame.radius * ratio);
      if (frame.dimmed) pass(frame, true);
      pass(frame, false);
    };
    const destroy = () => gl.getExtension("WEBGL_lose_context")?.loseContext();
    return { name: "webgl2", upload, paint, draw, destroy };
  }

  /** One marker as a path around the origin. */
  function trace(pen, shape, x, y, r) {
    if (shape === 1) pen.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    else if (shape === 2) {
      pen.moveTo(x, y - 1.2 * r);
      pen.lineTo(x + 1.1 * r, y + 0.7 * r);
      pen.lineTo(x - 1.1 * r, y + 0.7 * r);
      pen.closePath();
    } else {
      pen.moveTo(x + r, y);
      pen.arc(x, y, r, 0, 2 * Math.PI);
    }
  }

  /** Markers as paths, for some ten thousand points. */
  function drawPaths(pen, points, frame, dim) {
    const { x, y, looks } = points;
    const { box, radius } = frame;
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.width, box.height);
    pen.clip();
    pen.globalAlpha = frame.opacity * (dim ? DIM_OPACITY : 1);
    for (let i = 0; i < x.length; i += 1) {
      const mark = looks[4 * i + 3];
      if (mark === 0 || mark >= DIM !== dim) continue;
      const px = box.left + ((x[i] * frame.scale[0] + frame.offset[0] + 1) / 2) * box.width;
      const py = box.top + ((1 - y[i] * frame.scale[1] - frame.offset[1]) / 2) * box.height;
      if (px < box.left - 9 || px > box.left + box.width + 9 || py < box.top - 9 || py > box.top + box.height + 9) continue;
      pen.fillStyle = `rgb(${looks[4 * i]} ${looks[4 * i + 1]} ${looks[4 * i + 2]})`;
      pen.beginPath();
      trace(pen, (mark & 127) - 1, px, py, radius);
      pen.fill();
    }
    pen.restore();
  }

  /** Squares of pixels mixed by hand, for many points. Cost: a few nanoseconds for each pixel of each point. */
  function drawPixels(pen, points, frame) {
    const { x, y, looks } = points;
    const { box, ratio } = frame;
    const [left, top] = [Math.round(box.left * ratio), Math.round(box.top * ratio)];
    const [width, height] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
    const sums = new Float32Array(4 * width * height);
    const side = Math.max(1, Math.round(1.8 * frame.radius * ratio));
    for (let i = 0; i < x.length; i += frame.step) {
      const mark = looks[4 * i + 3];
      if (mark === 0) continue;
      const alpha = frame.opacity * (mark >= DIM ? DIM_OPACITY : 1);
      const c = Math.round(((x[i] * frame.scale[0] + frame.offset[0] + 1) / 2) * width - side / 2);
      const r = Math.round(((1 - y[i] * frame.scale[1] - frame.offset[1]) / 2) * height - side / 2);
      if (c <= -side || c >= width || r <= -side || r >= height) continue;
      for (let v = Math.max(r, 0); v < Math.min(r + side, height); v += 1) {
        for (let u = Math.max(c, 0); u < Math.min(c + side, width); u += 1) {
          const k = 4 * (v * width + u);
          for (let j = 0; j < 3; j += 1) sums[k + j] += alpha * (looks[4 * i + j] - sums[k + j]);
          sums[k + 3] += alpha * (255 - sums[k + 3]);
        }
      }
    }
    const image = pen.createImageData(width, height);
    for (let k = 0; k < sums.length; k += 4) {
      const cover = sums[k + 3] / 255 || 1;
      for (let j = 0; j < 3; j += 1) image.data[k + j] = sums[k + j] / cover;
      image.data[k + 3] = sums[k + 3];
    }
    pen.putImageData(image, left, top);
  }

  /** A renderer by Canvas 2D. */
  function plain(canvas) {
    const pen = canvas.getContext("2d");
    const points = { x: new Float32Array(0), y: new Float32Array(0), looks: new Uint8Array(0) };
    return {
      name: "canvas",
      upload: (x, y) => Object.assign(points, { x, y }),
      paint: (looks) => Object.assign(points, { looks }),
      draw(frame) {
        pen.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
        pen.clearRect(0, 0, frame.width, frame.height);
        if (frame.box.width < 1 || frame.box.height < 1) return;
        if (points.x.length > 20000) drawPixels(pen, points, frame);
        else {
          if (frame.dimmed) drawPaths(pen, points, frame, true);
          drawPaths(pen, points, frame, false);
        }
      },
      destroy() {},
    };
  }

  return { DIM, webgl, plain, trace };
})();
