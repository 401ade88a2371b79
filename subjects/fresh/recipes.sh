# The C programs of this folder, as `../build.sh fresh/NAME` builds them with its own functions.
case $name in
  stb-pic) # stb_image 2.06
    get_crate stb_image 0.2.2
    compile "$source/src/stb_image.c" -lm ;;
  stb-truetype) # stb_truetype 1.20, as Dear ImGui has it
    get_crate imgui-sys 0.7.0
    compile -I"$source/third-party/imgui" -lm ;;
  stb-composite) # the same, by another failure
    get_crate imgui-sys 0.7.0
    compile -I"$source/third-party/imgui" -lm ;;
  *)
    echo "there is no recipe for fresh/$name" >&2
    exit 2 ;;
esac
