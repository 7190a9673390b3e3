Feature: The runtime of a manifest
  How long the process lives and who shares it.

  @0.1 @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-RUNTIME-001
    Examples:
      | what          |
      | the lifecycle |

    @MAN-RUNTIME-002
    Examples:
      | what        |
      | the sharing |

    @MAN-RUNTIME-005
    Examples:
      | what                              |
      | a lifecycle that cannot be shared |

  @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-RUNTIME-004
    Examples:
      | what                              |
      | a lifecycle that has to be shared |

  @0.1
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-RUNTIME-007
    Examples:
      | what                            |
      | sharing on an API that has none |
