"""What fitted models compute, as arrays: read off scikit-learn's estimators and ONNX files.

Transforms, layers, trees and tables, with what they conclude from scores. Nothing here knows keys,
protocols or parties.
"""
