"""What is drawn, from plain data: pictures, figures, text, SVG, and the scripts that paint in the browser."""
